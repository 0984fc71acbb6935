"""Tests of cmake/check_private_names.py with small unity files."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "cmake/check_private_names.py"


def checked(**files):
    """Exit code and output of the check for files that are compiled together, in this order."""
    with tempfile.TemporaryDirectory() as folder:
        unity = Path(folder) / "Unity/unity_0_cxx.cxx"
        unity.parent.mkdir()
        for name, text in files.items():
            (Path(folder) / f"{name}.cpp").write_text(text)
        unity.write_text("".join(f'#include "{folder}/{name}.cpp"\n' for name in files))
        run = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout.replace(folder + "/", "")


def private(function, space="a"):
    return f"namespace {space} {{\nnamespace {{\n\n{function}\n\n}}  // namespace\n}}  // namespace {space}\n"


class PrivateNames(unittest.TestCase):
    def test_an_overload_of_another_files_function(self):
        code, text = checked(one=private("int digits(unsigned word) { return 1; }"), two="namespace a {\nint f() {\n  return digits(2);\n}\n}\n")
        self.assertEqual(code, 1)
        self.assertIn("one.cpp: private digits is visible in two.cpp", text)

    def test_two_private_overloads(self):
        code, text = checked(one=private("int digits(unsigned word) { return 1; }"),
                             two=private("int digits(long word) { return 2; }\nint f() { return digits(2); }"))
        self.assertEqual(code, 1)
        self.assertIn("is visible in two.cpp", text)

    def test_a_constant_and_a_type_of_a_header(self):
        other = "namespace a {\nint f() {\n  return kTiles + sizeof(Row);\n}\n}\n"
        code, text = checked(one=private("constexpr unsigned kTiles = 3;\nstruct Row {\n};"), two=other)
        self.assertEqual(code, 1)
        self.assertIn("one.cpp: private kTiles is visible in two.cpp", text)
        self.assertIn("one.cpp: private Row is visible in two.cpp", text)

    def test_a_file_that_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            unity = Path(folder) / "Unity/unity_0_cxx.cxx"
            unity.parent.mkdir()
            unity.write_text('#include "/nowhere/one.cpp"\n')
            self.assertEqual(subprocess.run([sys.executable, CHECK, folder], check=False).returncode, 0)

    def test_what_hides_it(self):
        function = private("int digits(unsigned word) { return 1; }")
        for other in ("namespace a {\nint f() {\n  const auto digits = [](int) { return 1; };\n  return digits(2);\n}\n}\n",
                      "namespace a {\nint f(const T& t) {\n  return t.digits(2) + b::digits(2);\n}\n}\n",
                      "namespace a {\n// digits(2)\nconst char* text = \"digits(2)\";\n}\n",
                      private("int digits(int word) { return 2; }\nint f() { return digits(2); }", "a::inner")):
            self.assertEqual(checked(one=function, two=other), (0, ""), other)

    def test_other_namespaces(self):
        code, _ = checked(one=private("int digits(unsigned word) { return 1; }", "b"), two="namespace a {\nnamespace {\n\nint f() { return digits(2); }\n\n}  // namespace\n}\n")
        self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main()
