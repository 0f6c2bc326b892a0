#!/usr/bin/env python3
"""Hugging Face transformers behind HTTP, greedy, for compare.py.

    bench/peers/transformers_server.py FOLDER --port N --threads N
"""
import threading

import torch
import transformers

import chat_http


def main():
    arguments = chat_http.arguments()
    torch.set_num_threads(arguments.threads)
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(arguments.folder,
                                                              torch_dtype=torch.bfloat16).eval()

    def generate(messages, max_tokens):
        ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True,
                                            return_tensors="pt")
        streamer = transformers.TextIteratorStreamer(tokenizer, skip_prompt=True,
                                                     skip_special_tokens=True)
        options = {"inputs": ids, "attention_mask": torch.ones_like(ids), "do_sample": False,
                   "max_new_tokens": max_tokens, "streamer": streamer}
        worker = threading.Thread(target=model.generate, kwargs=options)
        worker.start()
        yield from streamer
        worker.join()

    chat_http.serve(generate, arguments.folder, arguments.port)


if __name__ == "__main__":
    main()
