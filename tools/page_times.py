#!/usr/bin/env python3
"""Measures in a real browser what people wait for: first tokens after Enter.

Two parts. "added": the time to the first token as the page measures it, from Enter on, less
what the server says, over some answers. "typing": a long question that is pasted and then
typed on for two seconds, beside what the same question takes when it is asked again. Both are the
page's times, from Enter or the click on.

Needs a browser, .venv (tools/venv.sh test) and a built program with its page.

usage: page_times.py [--model MODEL] [--answers 20] [--rounds 5] [--threads 0]
"""
import argparse
import statistics

from real_page import browsing
from visit import Visit

TOPICS = ("rivers", "lakes", "hills", "seas", "winds", "clouds", "rocks", "trees", "birds", "roads")
SENTENCE = "The {} rose by {} metres in the night and took the wooden bridge with it. "
TYPED = " What did it take with it?"
TYPING_MS = 2000


def times(answer):
    """Of one answer: what the page has measured, and what the server has."""
    page, server = (answer.get_attribute(name) for name in ("data-ttft-ms", "data-server-ttft-ms"))
    return float(page), float(server)


def added(visit, answers):
    """What the page adds to the server's time, in milliseconds, for each answer."""
    visit.ask("Hello.")  # the page's code is compiled
    found = []
    for number in range(answers):
        visit.new_chat()
        page, server = times(visit.ask(f"Tell me about {TOPICS[number % len(TOPICS)]}."))
        found.append(page - server)
    return found


def typing(visit, number):
    """One question read while it is typed: (tokens, cached, ms, ms when all is cached)."""
    visit.new_chat()
    word = TOPICS[number % len(TOPICS)]
    visit.type("".join(SENTENCE.format(word, i + 100 * number) for i in range(28)))
    visit("composer-input").press_sequentially(TYPED, delay=TYPING_MS / len(TYPED))
    visit("composer-input").press("Enter")
    answer = visit.answered()
    first, _ = times(answer)
    timing = answer.locator('[data-testid="timing"]')
    prompt, cached = (int(timing.get_attribute(name)) for name in ("data-prompt", "data-cached"))
    # The same question again: nothing can be faster, and the browser has as much to do.
    answer.hover()
    answer.locator('[data-testid="message-regenerate"]').click()
    visit("sibling-count").get_by_text("2 / 2").wait_for()
    again, _ = times(visit.answered())
    return prompt, cached, first, again


def show(name, values):
    values = sorted(values)
    print(f"{name}: median {statistics.median(values):.1f}, least {values[0]:.1f}, "
          f"most {values[-1]:.1f} ms; all: {' '.join(f'{value:.1f}' for value in values)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct")
    parser.add_argument("--answers", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=0)
    flags = parser.parse_args()
    arguments = ("--max-tokens", 16, "--threads", flags.threads, "--kv-disk-mb", 0)
    with browsing(flags.model, *arguments) as (browser, url):
        visit = Visit(browser, url)
        show("added by the page", added(visit, flags.answers))
        for number in range(flags.rounds):
            prompt, cached, first, again = typing(visit, number)
            print(f"typing: {cached} of {prompt} tokens were there; first token after "
                  f"{first:.0f} ms, fully cached {again:.0f} ms: {first / again:.2f} times")


if __name__ == "__main__":
    main()
