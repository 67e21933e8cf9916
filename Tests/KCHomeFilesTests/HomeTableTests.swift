import KCTestSupport
import Testing

@testable import KCHomeFiles

@Suite("Which files of a home hold secrets")
struct HomeTableTests {
    @Test(
        "Only the files of the table are restored",
        arguments: [
            (".ssh/id_ed25519", true), (".ssh/deep/er/key", true), (".ssh", false), (".ssh/rc", false),
            (".ssh/agent/s.x", false), (".ssh/config~", false), (".gnupg/random_seed", false),
            (".gnupg/private-keys-v1.d/A.key", true), (".netrc", true), (".netrc/x", false), (".bashrc", false),
            (".profile", false), (".config/autostart/x.desktop", false),
            (".password-store/.git/hooks/pre-commit", false), (".password-store/team/.git/hooks/pre-commit", false),
            (".local/share/gopass/stores/root/a/b/.git/config", false), (".passage/store/team/.git", false),
            (".ssh/.git/hooks/post-checkout", false), (".password-store/.github.gpg", true),
            (".password-store/.extensions/x.bash", false), (".password-store/a/b.gpg", true),
            (".var/app/org.example.App/data/keyrings/default.keyring", true), (".var/app/x/data/other", false),
            (".local/share/keyrings/login.keyring", false), (".Netrc", false),
        ])
    func onlyTheTableIsRestored(text: String, isRestored: Bool) throws {
        let path = try #require(HomePath(text))
        #expect((HomeTable.rule(for: path) != nil) == isRestored)
    }

    @Test(
        "A path that leads out of the home is none",
        arguments: [
            "", "/etc/passwd", "../x", ".ssh/../../x", ".ssh//x", ".ssh/", ".ssh/.", "./.ssh/x", ".ssh/a\u{0}b",
            ".ssh/" + String(repeating: "x", count: 256), String(repeating: ".ssh/", count: 32) + "x",
        ])
    func pathsStayInside(text: String) {
        #expect(HomePath(text) == nil)
    }

    @Test("Each source has a title of its own, and each rule decides about some path")
    func sourcesAreApart() {
        let titles = HomeTable.sources.map(\.title)
        #expect(Set(titles).count == titles.count)
        #expect(HomeTable.sources.allSatisfy { !$0.rules.isEmpty })
    }
}
