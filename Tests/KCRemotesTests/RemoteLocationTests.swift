import Testing

@testable import KCRemotes

@Suite("Names of remote files")
struct RemoteLocationTests {
    @Test(
        "REMOTE:PATH is parsed, and slashes that mean nothing go",
        arguments: [
            ("nas:backups", "nas:backups"), ("nas:backups/", "nas:backups"), ("nas:a//b", "nas:a/b"), ("nas:", "nas:"),
            ("nas:/srv/backups/", "nas:/srv/backups"), ("my disk:x", "my disk:x"), ("a@b+c-d.e:x:y", "a@b+c-d.e:x:y"),
            ("nas:Bücher", "nas:Bücher"), ("nas:…", "nas:…"), ("nas:.hidden", "nas:.hidden"),
        ])
    func names(text: String, parsed: String) throws {
        #expect(try #require(RemoteLocation(text)).text == parsed)
    }

    @Test(
        "Everything else is a local file, or could run a command, or has a second spelling",
        arguments: [
            "backups", "/srv/a:b", "./nas:x", ":sftp,ssh=sh:x", "-nas:x", "nas,shell_type=none:x", "nas\u{301}:x",
            "nas :x", "nas:a/../b", "nas:.", "nas:a\nb", "nas:a\u{0}b", "", ":",
            "nas:" + String(repeating: "a", count: 5_000),
        ])
    func others(text: String) {
        #expect(RemoteLocation(text) == nil)
    }

    @Test("A location has a folder and a name, which make it again")
    func parts() throws {
        for text in ["nas:a/b/c.kcb", "nas:/a.kcb", "nas:a.kcb"] {
            let location = try #require(RemoteLocation(text))
            #expect(try #require(location.folder).appending(location.name) == location)
        }
        #expect(try #require(RemoteLocation("nas:")).folder == nil)
    }
}
