#!/usr/bin/env python3
"""Counts the vector ALU instructions for a step of each operator of SIMD2, sum (+) (a (x) b), in the code objects of gfx90a.

Usage: vector_steps.py LACUNA WORKLOADS_FOLDER

The inner loop of simd2's vector product has 128 steps. Fails unless (+) and (x) are one instruction each (multiply and add are one
together), and unless the programs of the thesis' chapter 3 are free of f32 instructions that the published machine lacks: packed
instructions, minima and maxima of three values, and maxima of a value and itself, which quiet NaN.
"""
import collections
import re
import subprocess
import sys

STEPS = 128
OPERATORS = {
    "mma": ["v_fmac_f32"],
    "minplus": ["v_add_f32", "v_min_f32"],
    "maxplus": ["v_add_f32", "v_max_f32"],
    "minmul": ["v_min_f32", "v_mul_f32"],
    "maxmul": ["v_max_f32", "v_mul_f32"],
    "minmax": ["v_max_f32", "v_min_f32"],
    "maxmin": ["v_max_f32", "v_min_f32"],
    "orand": ["v_and_b32", "v_or_b32"],
    "addnorm": ["v_fmac_f32", "v_sub_f32"],
}
PROGRAMS = ["simd2", "apsp", "aplp", "mcp", "maxrp", "minrp", "mst", "gtc", "spgemm", "knn"]
KERNEL = re.compile(r"([0-9a-f]+) <(.+)>:$")
INSTRUCTION = re.compile(r"\t(\w+) ?(.*?) *// ([0-9A-F]+):[ 0-9A-F]*(?:<.*\+0x([0-9a-f]+)>)?$")


def kernels(lacuna, program):
    """Returns {kernel: [(address, mnemonic, operands, branch target or None)]} for the program's gfx90a code."""
    text = subprocess.run([lacuna, "disasm", program], check=True, capture_output=True, text=True).stdout
    found, here, start, code = {}, False, 0, []
    for line in text.splitlines():
        if "file format" in line:
            here = "gfx90a" in line
        elif match := KERNEL.match(line):
            start, code = int(match[1], 16), []
            if here:
                found[match[2]] = code
        elif match := INSTRUCTION.match(line):
            mnemonic = re.sub(r"_(e32|e64|sdwa|dpp)$", "", match[1])
            code.append((int(match[3], 16), mnemonic, match[2].split(", "), start + int(match[4], 16) if match[4] else None))
    return found


def longest_block(code):
    """Returns the longest sequence of instructions without branches and branch targets."""
    targets = {target for *_, target in code if target is not None}
    blocks = [[]]
    for address, mnemonic, *_ in code:
        if address in targets:
            blocks.append([])
        if mnemonic.startswith(("s_branch", "s_cbranch", "s_endpgm")):
            blocks.append([])
        else:
            blocks[-1].append(mnemonic)
    return max(blocks, key=len)


def foreign(mnemonic, operands):
    return (re.match(r"v_pk_\w+_f32$|v_(min|max|med)3_f32$", mnemonic)
            or mnemonic == "v_max_f32" and operands[1].strip() == operands[2].strip())


def main(lacuna, folder):
    errors = []
    for program in PROGRAMS:
        found = kernels(lacuna, f"{folder}/{program}")
        if not found:
            errors.append(f"{program} has no code of gfx90a")
        for kernel, code in found.items():
            odd = collections.Counter(mnemonic for _, mnemonic, operands, _ in code if foreign(mnemonic, operands))
            if odd:
                errors.append(f"{program}, {kernel}: " + ", ".join(f"{count} {mnemonic}" for mnemonic, count in odd.items()))
        if program != "simd2":
            continue
        for number, (operator, wanted) in enumerate(OPERATORS.items()):
            code = next(code for kernel, code in found.items() if f"vector_productILN5simd26opcodeE{number}E" in kernel)
            count = collections.Counter(one for one in longest_block(code) if re.match(r"v_\w+", one))
            print(f"{operator}: " + ", ".join(f"{count[one] / STEPS:g} {one}" for one in sorted(count)))
            if {one: of for one, of in count.items() if of >= STEPS / 16} != dict.fromkeys(wanted, STEPS):
                errors.append(f"{STEPS} steps of {operator} are not {STEPS} of each of {' and '.join(wanted)} alone")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
