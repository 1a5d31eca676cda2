"""The structured fuzzer of what arrives (Specs/fuzz.md, "What arrives")."""
