#!/usr/bin/env python3
"""Hugging Face transformers behind HTTP, greedy, in bfloat16, for compare.py.

    bench/peers/transformers_server.py MODEL.gguf --port N --threads N

It reads the GGUF itself and decodes all weights at the start.
"""
import pathlib
import threading

import torch
import transformers

import chat_http


def main():
    arguments = chat_http.arguments()
    torch.set_num_threads(arguments.threads)
    path = pathlib.Path(arguments.model)
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    # Products with packed weights need kernels from its hub, so they are decoded.
    model = transformers.AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.bfloat16,
        quantization_config=transformers.GgufConfig(dequantize=True)).eval()

    def generate(messages, max_tokens):
        ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True,
                                            return_tensors="pt", return_dict=False)
        streamer = transformers.TextIteratorStreamer(tokenizer, skip_prompt=True,
                                                     skip_special_tokens=True)
        counts = []

        def run():
            out = model.generate(inputs=ids, attention_mask=torch.ones_like(ids), do_sample=False,
                                 max_new_tokens=max_tokens, streamer=streamer)
            counts.append(out.shape[1] - ids.shape[1])

        worker = threading.Thread(target=run)
        worker.start()
        yield from streamer
        worker.join()
        yield from counts

    chat_http.serve(generate, arguments.model, arguments.port)


if __name__ == "__main__":
    main()
