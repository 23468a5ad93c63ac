"""Variants of a shot for TOPs: a work item each, and one that puts them side by side (docs/farm.md)."""

import shlex

from . import job


def values(text):
    """The values in a list, as `meniscus wedge --vary` splits it: at commas outside of brackets and quotation marks."""
    out, part, depth, inside = [], "", 0, False
    for letter in text:
        inside ^= letter == '"'
        depth += 0 if inside else (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not inside:
            out.append(part)
            part = ""
        else:
            part += letter
    return [one.strip() for one in out + [part]]


def count(vary):
    """Number of variants of a list of `(parameter, values)`."""
    out = 1
    for _, text in vary:
        out *= len(values(text))
    return out


def words(graph, out, vary, given="", device="auto", threads=0):
    """What all work items have in common."""
    common = [job.program(given), "wedge", graph, "--out", out]
    for what, text in vary:
        common += ["--vary", f"{what}={text}"]
    return common + ["--device", device] + (["--threads", str(threads)] if threads else [])


def commands(graph, out, vary, given="", device="auto", threads=0):
    """A command line for each variant, from 1, and one for table and sheet. One that is begun anew goes on."""
    common = words(graph, out, vary, given, device, threads)
    cooks = [shlex.join(common + ["--only", str(number), "--resume"]) for number in range(1, count(vary) + 1)]
    return cooks, shlex.join(common + ["--collect"])
