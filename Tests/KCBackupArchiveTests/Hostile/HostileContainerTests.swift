import KCArchiveForgery
import KCBackupArchive
import KCDeviceIdentity
import KCKeychainModel
import Testing

private let wrongMembers = HostileCase.Refusal.damaged("exactly the members")

private let membersCases = join([
    HostileCase.both("without header", .exactly(.notAnArchive)) { $0.rearrange = { $0.removeFirst() } },
    (1...4).flatMap { index in
        HostileCase.both("without member \(index)", wrongMembers) { $0.rearrange = { $0.remove(at: index) } }
    },
    (0...4).flatMap { index in
        HostileCase.both("member \(index) twice", .damaged("a name occurs once")) {
            $0.arrange = { if index < $0.count { $0.insert($0[index], at: index) } }
            $0.rearrange = { if index >= 3 { $0.insert($0[index], at: index) } }
        }
    },
    HostileCase.both("streams exchanged", wrongMembers) { $0.arrange = { $0.swapAt(1, 2) } },
    HostileCase.both("header second", .exactly(.notAnArchive)) { $0.arrange = { $0.swapAt(0, 1) } },
    HostileCase.both("signature before checksums", wrongMembers) { $0.rearrange = { $0.swapAt(3, 4) } },
    HostileCase.both("one more member", wrongMembers) {
        $0.arrange = { $0.append(TarEntry("README", [1], time: $0[0].time)) }
    },
    HostileCase.both("one more member at the end", wrongMembers) {
        $0.rearrange = { $0.append(TarEntry("README", [1], time: $0[0].time)) }
    },
    HostileCase.both("twenty members", .limit("members")) {
        $0.rearrange = { entries in
            for index in 0..<20 { entries.append(TarEntry("README\(index)", [1], time: entries[0].time)) }
        }
    },
    HostileCase.both("identity where it has no place", .damaged("")) {
        $0.arrange = { $0.insert(TarEntry("identity.age", [1], time: $0[0].time), at: 2) }
    },
    [
        HostileCase("with an identity, as an encrypted archive has it", .unencrypted, wrongMembers) {
            $0.identity = [1]
        }
    ],
    HostileCase.both("renamed", wrongMembers) { $0.arrange = { $0[1].name = "metadata.jsonl" } },
    HostileCase.both("name with a folder", .damaged("a name is letters")) { $0.arrange = { $0[1].name = "./a" } },
    HostileCase.both("name that climbs", .damaged("a name is letters")) { $0.arrange = { $0[1].name = "../a" } },
])

private let otherType = HostileCase.Refusal.damaged("a member is a regular file")

private let headersCases = join([
    Array("12345678LKSxgDVM\0".utf8).flatMap { type in
        HostileCase.both("type \(type)", otherType) { $0.arrange = { $0[1].type = type } }
    },
    HostileCase.both("symbolic link", otherType) {
        $0.arrange = {
            $0[2].type = UInt8(ascii: "2")
            $0[2].linkName = "/etc/passwd"
        }
    },
    HostileCase.both("mode 0644", .damaged("the mode is 0600")) { $0.arrange = { $0[1].mode = 0o644 } },
    HostileCase.both("setuid", .damaged("the mode is 0600")) { $0.arrange = { $0[1].mode = 0o4600 } },
    HostileCase.both("owner", .damaged("the owner is 0")) { $0.arrange = { $0[1].user = 1000 } },
    HostileCase.both("owner's name", .damaged("the owner has no name")) { $0.arrange = { $0[1].userName = "root" } },
    HostileCase.both("another time", .damaged("one time")) { $0.arrange = { $0[1].time += 1 } },
    HostileCase.both("size in base 256", .damaged("octal digits")) {
        $0.arrange = { $0[1].sizeField = [0x80] + [UInt8](repeating: 0, count: 10) + [1] }
    },
    HostileCase.both("size of 8 GiB", .damaged("ends early")) {
        $0.arrange = { $0[1].sizeField = Array("77777777777 ".utf8) }
    },
    HostileCase.both("padding that is not zero", .damaged("padded with zeros")) { $0.arrange = { $0[1].padding = 1 } },
])

private let wrongSum = HostileCase.Refusal.damaged("the checksums are not those of its members")

private func changingHash(ofLine number: Int, in text: String) -> String {
    var lines = text.split(separator: "\n").map { String($0) }
    lines[number] = (lines[number].first == "0" ? "1" : "0") + lines[number].dropFirst()
    return lines.map { $0 + "\n" }.joined()
}

private let checksumsCases = join([
    HostileCase.both("one space", wrongSum) { $0.spellChecksums = { $0.replacing("  ", with: " ") } },
    HostileCase.both("binary marker", wrongSum) { $0.spellChecksums = { $0.replacing("  ", with: " *") } },
    HostileCase.both("upper case", wrongSum) { $0.spellChecksums = { $0.uppercased() } },
    HostileCase.both("CRLF", wrongSum) { $0.spellChecksums = { $0.replacing("\n", with: "\r\n") } },
    HostileCase.both("no last line feed", wrongSum) { $0.spellChecksums = { String($0.dropLast()) } },
    HostileCase.both("blank line", wrongSum) { $0.spellChecksums = { $0 + "\n" } },
    HostileCase.both("another order", wrongSum) {
        $0.spellChecksums = { $0.split(separator: "\n").reversed().map { $0 + "\n" }.joined() }
    },
    HostileCase.both("one less", wrongSum) {
        $0.spellChecksums = { $0.split(separator: "\n").dropLast().map { $0 + "\n" }.joined() }
    },
    HostileCase.both("one more", wrongSum) { $0.spellChecksums = { $0 + $0.prefix(64) + "  README\n" } },
    HostileCase.both("the hash of the header changed", .damaged("'kcbackup.json' does not match its checksum")) {
        $0.spellChecksums = { ($0.first == "0" ? "1" : "0") + $0.dropFirst() }
    },
    HostileCase.both("the hash of the metadata changed", .damaged("does not match its checksum")) {
        $0.spellChecksums = { changingHash(ofLine: 1, in: $0) }
    },
    HostileCase.both("the hash of the secrets changed", .damaged("does not match its checksum")) {
        $0.spellChecksums = { changingHash(ofLine: 2, in: $0) }
    },
    HostileCase.both("a kilobyte too much", .limit("SHA256SUMS")) {
        $0.spellChecksums = { $0 + String(repeating: "\n", count: 1024) }
    },
])

private let signaturesCases = join([
    HostileCase.both("another namespace", .damaged("signature does not fit")) { $0.namespace = "file" },
    HostileCase.both("empty", .damaged("signature does not fit")) { $0.rearrange = { $0[4].bytes = [] } },
    HostileCase.both("without last line feed", .damaged("signature does not fit")) {
        $0.rearrange = { $0[4].bytes.removeLast() }
    },
    HostileCase.both("of other checksums", .damaged("signature does not fit")) { forgery in
        let other = try Forgery(Genuine.all.get().second)
        var signature: [UInt8] = []
        var copy = other
        copy.rearrange = { signature = $0[4].bytes }
        _ = try copy.bytes()
        forgery.rearrange = { $0[4].bytes = signature }
    },
    HostileCase.both("another device's", .damaged("another device than it names")) {
        $0.signer = try Genuine.all.get().ofOtherDevice.device
    },
    HostileCase.both("header that names a device unknown to all", .damaged("another device than it names")) {
        $0.header = $0.header.replacing($0.signer.id.description, with: "KC-AAAA-AAAA-AAAA-AAAA-AAAA")
    },
])

@Suite("Hostile containers")
struct HostileContainerTests {
    @Test("An archive that is taken apart and reassembled unchanged is accepted", arguments: ArchiveMode.allCases)
    func control(_ mode: ArchiveMode) throws {
        let genuine = try Genuine.all.get()
        let forgery = try Forgery(mode == .encrypted ? genuine.encrypted : genuine.unencrypted)
        let outcome = try genuine.outcome(of: forgery.bytes())
        #expect(outcome.error == nil)
        #expect(outcome.read == 6)
    }

    @Test("A container with missing, extra or reordered members is refused", arguments: membersCases)
    func members(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("A container with a different kind of member header is refused", arguments: headersCases)
    func headers(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("Noncanonical or wrong checksums are refused", arguments: checksumsCases)
    func checksums(_ hostile: HostileCase) throws { try hostile.check() }

    @Test("A signature that does not match is refused", arguments: signaturesCases)
    func signatures(_ hostile: HostileCase) throws { try hostile.check() }
}
