#!/usr/bin/env python3
"""OpenVINO GenAI behind HTTP, greedy, with its prefix cache, for compare.py.

    bench/peers/openvino_server.py MODEL.gguf --port N --threads N

It reads the GGUF itself; what Q5_0 there is has to become Q8_0 first (widen_gguf.py).
"""
import queue
import threading

import openvino_genai

import chat_http


def main():
    arguments = chat_http.arguments()
    scheduler = openvino_genai.SchedulerConfig()
    scheduler.enable_prefix_caching = True
    pipeline = openvino_genai.LLMPipeline(
        arguments.model, "CPU", scheduler_config=scheduler, PERFORMANCE_HINT="LATENCY",
        INFERENCE_NUM_THREADS=arguments.threads)
    tokenizer = pipeline.get_tokenizer()

    def generate(messages, max_tokens):
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        pieces = queue.Queue()

        def run():
            config = openvino_genai.GenerationConfig(max_new_tokens=max_tokens, do_sample=False)
            config.apply_chat_template = False
            result = pipeline.generate([prompt], config, lambda text: pieces.put(text) and False)
            pieces.put(result.perf_metrics.get_num_generated_tokens())
            pieces.put(None)

        threading.Thread(target=run, daemon=True).start()
        yield from iter(pieces.get, None)

    chat_http.serve(generate, arguments.model, arguments.port)


if __name__ == "__main__":
    main()
