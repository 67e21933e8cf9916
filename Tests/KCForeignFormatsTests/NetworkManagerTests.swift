import Foundation
import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing connections of NetworkManager", .waitsForPrograms)
struct NetworkManagerTests {
    static let wifi = """
        # A comment
        [connection]
        id=Caf\u{e9} Zentral
        uuid=9b4e7c6e-6d2f-4f57-9d38-0a8f6b7d2c11
        type=wifi

        [wifi]
        ssid=67;97;102;195;169;

        [wifi-security]
        key-mgmt=wpa-psk
        psk=\\sten\\\\sdots\\s

        """
    private static let work = """
        [connection]
        id=Work
        uuid=1
        type=802-11-wireless
        [802-11-wireless]
        ssid=Work
        [802-11-wireless-security]
        key-mgmt=wpa-eap
        wep-key0=0123456789
        [802-1x]
        identity=ada
        password=tulip
        private-key-password-flags=1
        private-key=/home/ada/.cert/key.pem
        phase2-auth=mschapv2

        """
    private static let vpn = """
        [connection]
        id=Tunnel
        uuid=2
        type=vpn
        [vpn]
        username=ada
        password-flags=0
        otp-flags=2
        cert-pass-flags=1
        service-type=org.freedesktop.NetworkManager.openvpn
        [vpn-secrets]
        password=rose
        proxy server=secret of it
        """
    private static let wireguard = """
        [connection]
        id=wg0
        type=wireguard
        [wireguard]
        private-key=cHJpdmF0ZQ==
        [wireguard-peer.cHVibGlj=]
        preshared-key=c2hhcmVk
        preshared-key-flags=0
        """

    private func read(_ text: String) throws -> ForeignContents {
        let input = ForeignReading.input(Array(text.utf8), name: "x.nmconnection")
        #expect(try KnownFormats.recognise(input).name == "networkmanager")
        return try NetworkManagerFormat().read(input, GivenSecrets(text: nil))
    }

    @Test("Each secret becomes an item, and so does the whole file; secrets that are elsewhere are counted")
    func secrets() throws {
        #expect(
            try read(Self.wifi).listing == [
                "genp svce=AirPort acct=Caf\u{e9} desc=AirPort network password:  ten\\sdots ",
                "genp svce=Caf\u{e9} Zentral acct=x.nmconnection desc=attachment: \(Self.wifi)",
            ])
        let work = try read(Self.work)
        #expect(
            try work.listing.map { $0.prefix { $0 != "[" } } == [
                "genp svce=Work acct=ada: tulip",
                "genp svce=Work acct=wifi-security.wep-key0 desc=field: 0123456789",
                "genp svce=Work acct=x.nmconnection (ada) desc=attachment: ",
            ])
        #expect(work.leftOut.map { "\($0.count) \($0.kind)" } == ["1 secret that the keyring of a user has"])
        let vpn = try read(Self.vpn)
        #expect(
            try vpn.listing.map { $0.prefix { $0 != "[" } } == [
                "genp svce=Tunnel acct=ada: rose",
                "genp svce=Tunnel acct=vpn.proxy server (ada) desc=field: secret of it",
                "genp svce=Tunnel acct=x.nmconnection (ada) desc=attachment: ",
            ])
        #expect(
            vpn.leftOut.map { "\($0.count) \($0.kind)" } == [
                "1 secret that is asked for each time", "1 secret that the keyring of a user has",
            ])
        #expect(
            try read(Self.wireguard).listing.map { $0.prefix { $0 != "[" } } == [
                "genp svce=wg0 acct=private key desc=private key: cHJpdmF0ZQ==",
                "genp svce=wg0 acct=wireguard-peer.cHVibGlj=.preshared-key desc=field: c2hhcmVk",
                "genp svce=wg0 acct=x.nmconnection desc=attachment: ",
            ])
    }

    @Test("A folder of connections is read; what is damaged is refused by name, and others keep their UUIDs")
    func folder() throws {
        let folder = try TemporaryFolder()
        try folder.write("wifi.nmconnection", Array(Self.wifi.utf8))
        try folder.write("vpn.nmconnection", Array(Self.vpn.utf8))
        try folder.write("bad.nmconnection", Array("[connection\nid=a\nuuid=2\ntype=vpn\n".utf8))
        try folder.write("other.nmconnection", Array("[Desktop Entry]\nName=x\n".utf8))
        try folder.write("readme", [1])
        #expect(unsafe symlink("/etc/passwd", folder.path("link.nmconnection")) == 0)
        let input = ForeignInput(path: folder.path, .folder)
        #expect(try KnownFormats.recognise(input).name == "networkmanager")
        let contents = try NetworkManagerFormat().read(input, GivenSecrets(text: nil))
        #expect(contents.items.count == 5)
        #expect(contents.refused.map(\.name) == ["bad.nmconnection", "link.nmconnection", "other.nmconnection"])
        #expect(contents.leftOut.contains { $0.kind == "file beside the connections" && $0.count == 1 })
        let alone = try NetworkManagerFormat().read(
            ForeignInput(
                path: folder.path("wifi.nmconnection"),
                .file(ForeignFile(reading: OpenFile.reading(folder.path("wifi.nmconnection"))))),
            GivenSecrets(text: nil))
        #expect(try Set(alone.uuids).isSubset(of: contents.uuids))
    }

    @Test("Other key files are no connections, and a damaged one says which line is wrong")
    func others() throws {
        for text in ["[Desktop Entry]\nType=Application\n", "[connection]\nid=a\n", "[other]\nuuid=1\ntype=vpn\n"] {
            let input = ForeignReading.input(Array(text.utf8))
            #expect(try !NetworkManagerFormat().recognises(input), "\(text)")
        }
        for (text, line) in [("[connection]\nid=a\nuuid=1\ntype=vpn\nnonsense\n", 5), ("id=1\n" + Self.vpn, 1)] {
            let failure = #expect(throws: ForeignFailure.self) { try read(text) }
            guard case .damagedLine(line, _)? = failure else {
                Issue.record("\(text): \(failure.map { "\($0)" } ?? "")")
                continue
            }
        }
    }

    private static let judge = "import gi; from gi.repository import GLib"

    @Test("Values are those that GLib reads, whatever is escaped, repeated or indented")
    func judged() throws {
        let script =
            Self.judge + #"""

                import sys
                file = GLib.KeyFile()
                file.load_from_bytes(GLib.Bytes.new(sys.stdin.buffer.read()), GLib.KeyFileFlags.NONE)
                for group in file.get_groups()[0]:
                    for key in file.get_keys(group)[0]:
                        try: value = file.get_string(group, key)
                        except GLib.Error: continue
                        print(group, key, value.encode().hex(), sep="\t")
                """#
        let environment = ["PATH": "/usr/bin:/bin"]
        let probe = try ExternalProgram.run("python3", ["-c", Self.judge], environment: environment)
        guard probe.status == 0 else { return }
        var random = SeededRandom(seed: 31)
        let pieces = ["\\s", "\\n", "\\t", "\\r", "\\\\", "\\;", " ", "=", "#", "[x]", "\u{e9}", "a", "\t", ";", "\r"]
        var text = "[connection]\ntype=vpn\n"
        for index in 0..<400 {
            if index % 20 == 0 { text += "\n# note\n[group\(Int.random(in: 0..<8, using: &random)).=]  \n" }
            let value = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            let indent = Bool.random(using: &random) ? "  " : ""
            text += "\(indent)key \(Int.random(in: 0..<12, using: &random)) = \(value.joined())\n"
        }
        let told = try ExternalProgram.run(
            "python3", ["-c", script], input: Array(text.utf8), environment: environment)
        #expect(told.status == 0, "\(told.errorText)")
        let bytes = SecretBytes(copying: text.utf8)
        var own: [String: String] = [:]
        try bytes.withBytes { bytes in
            for group in try ConnectionFile(bytes).groups {
                for value in group.values {
                    own["\(group.header.string)\t\(value.key.string)"] = Hexadecimal.encode(
                        value.secret(in: bytes).bytesForTest())
                }
            }
        }
        let lines = told.text.split(separator: "\n")
        #expect(lines.count > 50)
        for line in lines {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false)
            #expect(own["\(parts[0])\t\(parts[1])"] == String(parts[2]), "\(line)")
        }
    }
}
