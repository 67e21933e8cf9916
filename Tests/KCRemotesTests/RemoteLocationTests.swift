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

    @Test(
        "sftp:HOST:PATH names a host that OpenSSH reaches; any other path after sftp: is one of a remote of that name",
        arguments: [
            ("sftp:nas:backups", "nas", "backups"),
            ("sftp:ada@nas.example.org:/srv//b/", "ada@nas.example.org", "/srv/b"),
            ("sftp:nas:", "nas", ""), ("sftp:[fe80::1%eth0]:b", "[fe80::1%eth0]", "b"),
            ("sftp:a.b+c@[::1]:b:c", "a.b+c@[::1]", "b:c"), ("sftp:backups", nil, "backups"),
            ("sftp:-oProxyCommand=x:b", nil, "-oProxyCommand=x:b"), ("sftp:ada@-x:b", nil, "ada@-x:b"),
            ("sftp::b", nil, ":b"), ("sftp:a b:c", nil, "a b:c"), ("sftp:a/b:c", nil, "a/b:c"),
            ("sftp:[]:c", nil, "[]:c"), ("sftp:[::1]x:c", nil, "[::1]x:c"), ("nas:host:c", nil, "host:c"),
        ] as [(String, String?, String)])
    func hosts(text: String, host: String?, path: String) throws {
        let location = try #require(RemoteLocation(text))
        #expect(location.host == host && location.path == path)
        #expect(RemoteLocation(location.text) == location)
        #expect(RemoteLocation("sftp:nas:a/../b") == nil)
    }

    @Test("A location has a folder and a name, which make it again")
    func parts() throws {
        for text in ["nas:a/b/c.kcb", "nas:/a.kcb", "nas:a.kcb", "sftp:nas:a/b.kcb", "sftp:nas:/b.kcb"] {
            let location = try #require(RemoteLocation(text))
            #expect(try #require(location.folder).appending(location.name) == location)
        }
        #expect(try #require(RemoteLocation("nas:")).folder == nil)
    }
}
