import KCArchiveForgery
import KCBackupArchive
import KCDeviceIdentity
import KCKeychainModel
import Testing

private let headersCases = join([
    HostileCase.both("newer version", .exactly(.newerFormat(found: "2", known: 1))) {
        $0.header = $0.header.replacing("\"version\":1,", with: "\"version\":2,")
    },
    HostileCase.both(
        "newer version with other members", .exactly(.newerFormat(found: "9223372036854775807", known: 1))
    ) {
        $0.header = "{\"format\":\"kcbackup\",\"version\":9223372036854775807,\"new\":true}\n"
        $0.arrange = { $0 = [$0[0], TarEntry("other", [], time: 0)] }
    },
    edits("version 0", "\"version\":1,", "\"version\":0,", .damaged("kcbackup.json")),
    edits("negative version", "\"version\":1,", "\"version\":-1,", .damaged("kcbackup.json")),
    edits(
        "version beyond 64 bits", "\"version\":1,", "\"version\":1180591620717411303424,",
        .exactly(.newerFormat(found: "11805916207174113034…", known: 1))),
    edits("version with a leading zero", "\"version\":1,", "\"version\":01,", .damaged("kcbackup.json")),
    edits("version without digits", "\"version\":1,", "\"version\":,", .damaged("kcbackup.json")),
    edits("another format", "\"kcbackup\"", "\"kcbackuq\"", .exactly(.notAnArchive)),
    edits("space", "{\"format\"", "{ \"format\"", .exactly(.notAnArchive)),
    edits("another mode", "crypted\"", "cryptet\"", .damaged("mode")),
    edits("device in lower case", "KC-", "kc-", .damaged("device ID")),
    edits("second 60", "00:01:40", "00:01:60", .damaged("date")),
    edits("year 1969", "\"created\":\"2026", "\"created\":\"1969", .damaged("between 1970 and 2242")),
    edits("year 2243", "\"created\":\"2026", "\"created\":\"2243", .damaged("between 1970 and 2242")),
    edits("date with another offset", "Z\",\"device\"", "z\",\"device\"", .damaged("date")),
    edits("archive ID in upper case", "\"archive\":\"", "\"archive\":\"A", .damaged("hexadecimal")),
    edits("tool with a raw control character", "\"test\"", "\"te\u{1b}st\"", .damaged("control")),
    edits("tool with an escape that is not needed", "\"test\"", "\"t\\u0065st\"", .damaged("escape")),
    edits("one more member", "\"tool\"", "\"extra\":1,\"tool\"", .damaged("kcbackup.json")),
    edits("no line feed", "}\n", "}", .damaged("'}\\u{a}' is missing")),
    edits("a second line", "}\n", "}\n\n", .damaged("kcbackup.json")),
    edits("too long", "\"test\"", "\"\(String(repeating: "t", count: 17_000))\"", .limit("kcbackup.json")),
    [
        HostileCase("mode flipped", .encrypted, .damaged("kcbackup.json")) {
            $0.header = $0.header.replacing("\"encrypted\"", with: "\"unencrypted\"")
        },
        HostileCase("mode flipped", .unencrypted, .damaged("kcbackup.json")) {
            $0.header = $0.header.replacing("\"unencrypted\"", with: "\"encrypted\"")
        },
        HostileCase("counts beyond 64 bits", .unencrypted, .damaged("too large")) {
            $0.recounts = false
            $0.header = $0.header.replacing("\"genp\":6", with: "\"genp\":9223372036854775808")
        },
        HostileCase("counts beyond the limit", .unencrypted, .damaged("out of range")) {
            $0.recounts = false
            $0.header = $0.header.replacing("\"genp\":6", with: "\"genp\":10000001")
        },
        HostileCase("negative counts", .unencrypted, .damaged("out of range")) {
            $0.recounts = false
            $0.header = $0.header.replacing("\"genp\":6", with: "\"genp\":-6")
        },
        HostileCase("another count", .unencrypted, .damaged("number of items")) {
            $0.recounts = false
            $0.header = $0.header.replacing("\"genp\":6", with: "\"genp\":5")
        },
    ],
])

private func edits(
    _ name: String, _ old: String, _ new: String, _ refusal: HostileCase.Refusal
) -> [HostileCase] {
    HostileCase.both("header: \(name)", refusal) { $0.header = $0.header.replacing(old, with: new) }
}

private let mixturesCases: [HostileCase] = [
    HostileCase("secrets of another archive", .damaged("does not belong to this archive")) {
        $0.secrets = try second().secrets
    },
    HostileCase("metadata of another archive", .damaged("does not belong to this archive")) {
        $0.metadata = try second().metadata
    },
    HostileCase("header of another archive", .damaged("does not belong to this archive")) {
        $0.header = try second().header
    },
    HostileCase("secrets of another archive, with their first line changed", .damaged("another item")) {
        $0.secrets = [$0.secrets[0]] + (try second().secrets.dropFirst())
    },
    HostileCase("last line of another archive's secrets", .damaged("another header")) {
        $0.relinks = false
        $0.secrets[$0.secrets.count - 1] = try #require(try second().secrets.last)
    },
    HostileCase("a secret that was sealed in another archive", .damaged("sealed secret is not genuine")) {
        let sealed = try #require(secondSealed().first)
        let own = try #require($0.secrets.firstIndex { $0.contains("\"sealed\"") })
        $0.secrets[own] = String($0.secrets[own].prefix(47) + sealed.dropFirst(47))
    },
    HostileCase("the commitment of another archive", .damaged("sealed by another device")) {
        let start = try second().secrets[0]
        $0.secrets[0] = String($0.secrets[0].dropLast(66) + start.suffix(66))
    },
    HostileCase("encrypted streams offered as unencrypted", .unencrypted, .damaged("does not belong")) {
        let lifted = try Forgery(Genuine.all.get().encrypted)
        $0.metadata = lifted.metadata
        $0.secrets = lifted.secrets
    },
    HostileCase("plain secrets offered as unencrypted", .unencrypted, .damaged("in the form")) {
        let lifted = try Forgery(Genuine.all.get().encrypted)
        $0.metadata.replaceSubrange(1..., with: lifted.metadata.dropFirst())
        $0.secrets.replaceSubrange(1..., with: lifted.secrets.dropFirst())
    },
    HostileCase("plain secrets offered as unencrypted by another device", .unencrypted, .damaged("in the form")) {
        let genuine = try Genuine.all.get()
        let lifted = try Forgery(genuine.encrypted)
        $0.metadata.replaceSubrange(1..., with: lifted.metadata.dropFirst())
        $0.secrets.replaceSubrange(1..., with: lifted.secrets.dropFirst())
        $0.editArchive($0.signer.id.description, genuine.ofOtherDevice.device.id.description)
        $0.signer = genuine.ofOtherDevice.device
    },
    HostileCase("unencrypted streams wrapped as encrypted", .damaged("does not belong")) {
        let wrapped = try Forgery(Genuine.all.get().unencrypted)
        $0.metadata = wrapped.metadata
        $0.secrets = wrapped.secrets
    },
    HostileCase("stored secrets wrapped as encrypted", .damaged("in the form")) {
        let wrapped = try Forgery(Genuine.all.get().unencrypted)
        $0.metadata.replaceSubrange(1..., with: wrapped.metadata.dropFirst())
        $0.secrets.replaceSubrange(1..., with: wrapped.secrets.dropFirst())
    },
    HostileCase("an encrypted archive without its encryption", .damaged("exactly the members")) {
        $0.isEncrypted = false
    },
]

private func second() throws -> Forgery { try Forgery(Genuine.all.get().second) }

private func secondSealed() throws -> [String] {
    try second().secrets.filter { $0.contains("\"sealed\"") }
}

@Suite("Hostile headers and mixed archives")
struct HostileHeaderTests {
    @Test("A noncanonical header, or one with other members, is refused", arguments: headersCases)
    func headers(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("Parts of two archives do not make a valid archive", arguments: mixturesCases)
    func mixtures(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("The passphrase identity of one archive does not open another")
    func foreignIdentity() throws {
        let genuine = try Genuine.all.get()
        var forgery = try Forgery(genuine.withPassphrase)
        forgery.identity = try Forgery(genuine.secondWithPassphrase).identity
        let outcome = try genuine.outcome(of: forgery.bytes(), passphrase: SampleArchive.passphrase)
        let expected = HostileCase.Refusal.damaged("belongs to another archive")
        #expect(expected.fits(outcome.error), "it ended with \(String(describing: outcome.error))")
    }
}
