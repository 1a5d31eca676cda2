import GodwitFiles
import Testing

@Suite("Parts of paths")
struct FilePathTests {
  /// As dirname(1) and basename(1) say.
  @Test(
    "folder and name are those that the shell's tools say",
    arguments: [
      ("n", ".", "n"), ("-", ".", "-"), (".", ".", "."), ("n/", ".", "n"), ("ab", ".", "ab"), ("ä", ".", "ä"),
      ("a/b", "a", "b"), ("a//b", "a", "b"), ("a/b/", "a", "b"), ("/a", "/", "a"), ("/", "/", "/"), ("//", "/", "/"),
      ("//a", "/", "a"), ("/a/b.c", "/a", "b.c"), ("./a", ".", "a"), ("../a", "..", "a"), ("", ".", ""),
    ])
  func parts(path: String, folder: String, name: String) {
    #expect(FilePath.folder(of: path) == folder)
    #expect(FilePath.name(of: path) == name)
  }
}
