import KCByteStreams
import Testing

@testable import KCAgeEncryption

@Suite("Names of plugins")
struct PluginNameTests {
    private func recipient(_ prefix: String, _ data: [UInt8] = [1, 2, 3]) -> String {
        var text: [UInt8] = []
        Bech32.encode(prefix: prefix, data.span, uppercase: false, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    private func identity(_ prefix: String, _ data: [UInt8] = [1, 2, 3]) -> [UInt8] {
        var text: [UInt8] = []
        Bech32.encode(prefix: prefix, data.span, uppercase: true, into: &text)
        return text
    }

    private func name(ofIdentity text: [UInt8]) -> String? { PluginName(identity: text.span)?.description }

    @Test("Recipients and identities name their plugin", arguments: ["yubikey", "se", "1password", "a-b_c.d+e", "x1"])
    func names(_ name: String) {
        #expect(PluginName(recipient: recipient("age1" + name))?.description == name)
        #expect(self.name(ofIdentity: identity("age-plugin-" + name + "-")) == name)
        #expect(self.name(ofIdentity: identity("age-plugin-" + name + "-", [])) == name)
        #expect(PluginName(name)?.program == "age-plugin-" + name)
    }

    @Test(
        "GHSA-32gq-x56h-299c: a separator of paths is in no name",
        arguments: [
            "/", "../../tmp/x", "x/y", "/usr/bin/id", "a/../../b", "\\x", "..\\x", "a b", "a:b", "a\u{0}b", "é",
        ])
    func separators(_ name: String) {
        #expect(PluginName(name) == nil)
        // The encoding of such a prefix is valid Bech32, if all of it is printable ASCII.
        guard name.utf8.allSatisfy({ (33...126).contains($0) }) else { return }
        #expect(PluginName(recipient: recipient("age1" + name)) == nil)
        #expect(self.name(ofIdentity: identity("age-plugin-" + name + "-")) == nil)
    }

    @Test("A name is neither empty, nor in upper case, nor longer than that of a file")
    func limits() {
        for name in ["", "YubiKey", String(repeating: "x", count: 245)] { #expect(PluginName(name) == nil) }
        #expect(PluginName(String(repeating: "x", count: 244))?.program.utf8.count == 255)
        #expect(PluginName(recipient: recipient("age1")) == nil)
        #expect(name(ofIdentity: identity("age-plugin-")) == nil)
        #expect(name(ofIdentity: identity("age-plugin--")) == nil)
    }

    @Test("A wrong character or case is seen, and what age itself encrypts to is of no plugin")
    func malformed() throws {
        let right = recipient("age1yubikey")
        let wrong = right.last == "q" ? right.dropLast() + "p" : right.dropLast() + "q"
        for text in [String(wrong), right.uppercased(), right + "q", " " + right, right + "\n", "age1", "", "age1x"] {
            #expect(PluginName(recipient: text) == nil, "\(text)")
        }
        for native in ["tag", "tagpq", "pq"] { #expect(PluginName(recipient: recipient("age1" + native)) == nil) }
        #expect(PluginName(recipient: try X25519Identity.generate().recipient.description) == nil)
        let own = identity("age-plugin-yubikey-")
        for text in [Array(own.dropLast()), own + [0x51], identity("age-secret-key-"), identity("age-plugin-yubikey")] {
            #expect(name(ofIdentity: text) == nil)
        }
        #expect(name(ofIdentity: Array(String(decoding: own, as: UTF8.self).lowercased().utf8)) == nil)
    }
}
