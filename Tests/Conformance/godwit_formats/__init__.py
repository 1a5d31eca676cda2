"""An independent implementation of Godwit's formats, written from Specs/*.md and from nothing else.

It is held against the Swift implementation in both directions by ConformanceTests, and Tools/fuzz-arrival makes its
hostile files with it. So its writers also write what no honest replica would: every field can be set, and Raw stands
for bytes that are no value. Its readers take only the one form that the specification allows.
"""
