import Foundation
import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

/// A file of `ssh-keygen` or age: see the README of the folder.
func sshExample(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: Project.path("Tests/KCAgeEncryptionTests/Examples/ssh/\(name)"))))
}

/// A key of the examples.
func sshIdentity(_ name: String) throws -> SSHIdentity {
    let bytes = try sshExample(name)
    return try SSHIdentity.parse(bytes.span)
}

@Suite("SSH keys as recipients")
struct SSHRecipientTests {
    private static func line(_ name: String) throws -> String {
        String(decoding: try sshExample(name + ".pub").dropLast(), as: UTF8.self)
    }

    @Test("A file that age made for a key is opened with its private half", arguments: ["ed", "rsa"])
    func vectors(_ name: String) throws {
        #expect(try decrypt(sshExample(name + ".age"), with: [sshIdentity(name)]) == Array("for SSH".utf8))
    }

    @Test("Each key opens what is encrypted to it, and no other one does", arguments: ["ed", "rsa"])
    func roundTrip(_ name: String) throws {
        let recipient = try #require(SSHRecipient(try Self.line(name)))
        let classic = try X25519Identity.generate()
        let file = try encrypt([1, 2, 3], to: [classic.recipient, recipient])
        #expect(try decrypt(file, with: [sshIdentity(name)]) == [1, 2, 3])
        #expect(try decrypt(file, with: [classic]) == [1, 2, 3])
        let other = try sshIdentity(name == "ed" ? "rsa" : "ed")
        let type = name == "ed" ? "ssh-ed25519" : "ssh-rsa"
        #expect(
            ageFailure { _ = try decrypt(file, with: [other, X25519Identity.generate()]) }
                == .noMatchingIdentity(["X25519", type]))
    }

    @Test("A recipient is a line of authorized_keys without options; its comment is no part of the key")
    func lines() throws {
        for name in ["ed", "rsa"] {
            let line = try Self.line(name)
            let words = line.split(separator: " ")
            let recipient = try #require(SSHRecipient(line))
            #expect(recipient.description == "\(words[0]) \(words[1])")
            #expect(try sshIdentity(name).recipient == recipient)
            for other in ["\(words[0]) \(words[1])", "\(words[0])\t\(words[1])  a b c", "\(line) "] {
                #expect(SSHRecipient(other) == recipient)
            }
            for other in [
                "no-pty \(line)", "\(words[0])", "\(words[1])", "ssh-dss \(words[1])",
                "\(words[0]) \(words[1].dropLast(4))",
                "\(words[0]) \(words[1])AAAA", "SSH-ED25519 \(words[1])", "\(words[0]), \(words[1])", "",
            ] {
                #expect(SSHRecipient(other) == nil, "\(other)")
                #expect(SSHRecipient.unsupportedKind(other[...]) == nil, "\(other)")
            }
        }
        // Bits that base 64 leaves unused would give a key several spellings.
        let padded = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIH6bsRIwruVml1rajUHJdLZef+GyJa0ByskbyEqX/nob"
        #expect(SSHRecipient(padded) != SSHRecipient(try Self.line("ed")))
        #expect(SSHRecipient.unsupportedKind(try Self.line("ecdsa")[...]) == "ecdsa-sha2-nistp256")
        #expect(SSHRecipient.unsupportedKind(try Self.line("weak")[...]) == "ssh-rsa of 1024 bits")
    }

    @Test("A point that no private key has, or that several spellings name, is no recipient")
    func points() throws {
        func line(_ point: [UInt8]) -> String {
            let type = Array("ssh-ed25519".utf8)
            return "ssh-ed25519 " + Base64.encode([0, 0, 0, 11] + type + [0, 0, 0, UInt8(point.count)] + point)
        }
        func point(_ y: UInt8, _ rest: UInt8 = 0, last: UInt8 = 0) -> [UInt8] {
            [y] + [UInt8](repeating: rest, count: 30) + [last]
        }
        // 3 is the coordinate of a point, 2 and 7 are not; 0 and 1 are of small order; 2^255 - 16 is 3 again.
        #expect(SSHRecipient(line(point(3))) != nil)
        for bad in [point(2), point(7), point(0), point(1), point(0xf0, 0xff, last: 0x7f), [3]] {
            #expect(SSHRecipient(line(bad)) == nil, "\(bad)")
        }
    }

    @Test("Numbers of RSA with another spelling, and exponents that no key has, are refused")
    func numbers() throws {
        let modulus: [UInt8] = [0] + [UInt8](repeating: 0xff, count: 256)
        func line(_ exponent: [UInt8], _ modulus: [UInt8]) -> String {
            let fields = [Array("ssh-rsa".utf8), exponent, modulus].map { field in
                [0, 0, UInt8(field.count >> 8), UInt8(field.count & 0xff)] + field
            }
            return "ssh-rsa " + Base64.encode(fields.flatMap { $0 })
        }
        #expect(SSHRecipient(line([1, 0, 1], modulus)) != nil)
        for exponent: [UInt8] in [[], [1], [4], [0, 3], [0x83], [1, 0, 0, 1]] {
            #expect(SSHRecipient(line(exponent, modulus)) == nil, "\(exponent)")
        }
        for bad in [[0] + modulus, Array(modulus.dropFirst()), []] {
            #expect(SSHRecipient(line([1, 0, 1], bad)) == nil)
        }
        #expect(SSHRecipient.unsupportedKind(line([3], Array(modulus.dropLast()))[...]) == "ssh-rsa of 2040 bits")
    }

    @Test("SSH keys do not mix with post-quantum ones or a passphrase", arguments: ["ed", "rsa"])
    func mixing(_ name: String) throws {
        let ssh = try sshIdentity(name).recipient
        let hybrid = try HybridIdentity.generate().recipient
        let passphrase = try ScryptRecipient(passphrase: secretText("p"), cost: #require(ScryptCost(logN: quickCost)))
        for recipients: [any Recipient] in [[ssh, hybrid], [hybrid, ssh]] {
            #expect(ageFailure { _ = try encrypt([], to: recipients) } == .incompatibleRecipients)
        }
        #expect(ageFailure { _ = try encrypt([], to: [ssh, passphrase]) } == .mixedPassphrase)
        let fileKey = SecretBytes(copying: 0..<16)
        let stanzas = try ssh.wrap(fileKey: fileKey).stanzas + hybrid.wrap(fileKey: fileKey).stanzas
        #expect(
            ageFailure { try AgeHeader(stanzas: stanzas, mac: []).requirePublicKeys() }
                == .malformedHeader("post-quantum recipients are mixed with others"))
    }

    @Test("A list of a person's keys is read; keys that nothing can be encrypted to are passed over, and named")
    func list() throws {
        let text = try ["ecdsa", "ed", "weak", "rsa"].map { try Self.line($0) }.joined(separator: "\n")
        var passed: [String] = []
        let recipients = try RecipientFile.parse("# ada\n\(text)\n") { line, kind in passed.append("\(line) \(kind)") }
        #expect(recipients == [.ssh(try sshIdentity("ed").recipient), .ssh(try sshIdentity("rsa").recipient)])
        #expect(passed == ["2 ecdsa-sha2-nistp256", "4 ssh-rsa of 1024 bits"])
        let others = try Self.line("weak") + "\n" + Self.line("ecdsa")
        #expect(
            ageFailure { _ = try RecipientFile.parse(others) }
                == .unsupportedRecipient(line: 1, kind: "ssh-rsa of 1024 bits"))
        let damaged = try Self.line("ed") + "\nssh-ed25519 AAAAC3Nz\n"
        #expect(ageFailure { _ = try RecipientFile.parse(damaged) } == .malformedRecipientLine(2))
    }
}

@Suite("Stanzas for SSH keys")
struct SSHStanzaTests {
    private func stanza(_ name: String) throws -> Stanza {
        try sshIdentity(name).recipient.wrap(fileKey: SecretBytes(copying: 0..<16)).stanzas[0]
    }

    private func fileKey(_ identity: SSHIdentity, _ stanzas: [Stanza]) throws -> [UInt8]? {
        guard let key = try identity.unwrap(stanzas) else { return nil }
        return key.bytesForTest()
    }

    private func changed(
        _ stanza: Stanza, _ change: (inout [String], inout [UInt8]) -> Void
    ) -> Stanza {
        var (arguments, body) = (stanza.arguments, stanza.body)
        change(&arguments, &body)
        return Stanza(type: stanza.type, arguments: arguments, body: body)
    }

    @Test("A stanza that breaks the rules is refused, by its reader and by its form", arguments: ["ed", "rsa"])
    func rules(_ name: String) throws {
        let identity = try sshIdentity(name)
        let good = try stanza(name)
        #expect(good.isWellFormed)
        #expect(try fileKey(identity, [good]) == Array(0..<16))
        let broken = [
            changed(good) { arguments, _ in arguments.append("x") }, changed(good) { arguments, _ in arguments = [] },
            // Six characters are 36 bits, of which four must be zero.
            changed(good) { arguments, _ in arguments[0] = arguments[0].dropLast() + "B" },
            changed(good) { arguments, _ in arguments[0] += "==" },
            changed(good) { _, body in body.removeLast(name == "ed" ? 1 : 200) },
            changed(good) { _, body in body += [UInt8](repeating: 0, count: 2_048) },
        ]
        for stanza in broken {
            #expect(!stanza.isWellFormed, "\(stanza)")
            #expect(throws: AgeFailure.self, "\(stanza)") { _ = try fileKey(identity, [stanza]) }
            #expect(throws: AgeFailure.self) { try AgeHeader(stanzas: [stanza], mac: []).requirePublicKeys() }
        }
    }

    @Test("A share of low order is refused by the owner of the key, and its form by everyone")
    func shares() throws {
        let identity = try sshIdentity("ed")
        let good = try stanza("ed")
        for first: UInt8 in [0, 1] {
            let share = Base64.encode([first] + [UInt8](repeating: 0, count: 31), padded: false)
            let low = changed(good) { arguments, _ in arguments[1] = share }
            #expect(
                ageFailure { _ = try fileKey(identity, [low]) }
                    == .malformedHeader("an ssh-ed25519 share is of low order"))
        }
        let short = changed(good) { arguments, _ in arguments[1] = String(arguments[1].dropLast(2)) }
        #expect(!short.isWellFormed)
    }

    @Test("A body of RSA has as many bytes as the modulus, also if its first ones are zero")
    func body() throws {
        let identity = try sshIdentity("rsa")
        let long = changed(try stanza("rsa")) { _, body in body.insert(0, at: 0) }
        #expect(long.isWellFormed)
        #expect(
            ageFailure { _ = try fileKey(identity, [long]) }
                == .malformedHeader("a wrapped file key has a wrong size"))
    }

    @Test("A stanza that names the key, but is for another one, is passed over", arguments: ["ed", "rsa"])
    func otherBody(_ name: String) throws {
        let good = try stanza(name)
        let damaged = changed(good) { _, body in body[body.count - 1] ^= 1 }
        let identity = try sshIdentity(name)
        #expect(try fileKey(identity, [damaged]) == nil)
        #expect(try fileKey(identity, [damaged, good]) == Array(0..<16))
    }
}

@Suite("SSH keys as identities")
struct SSHIdentityTests {
    private func failure(_ text: [UInt8]) -> AgeFailure? {
        ageFailure { _ = try IdentityFile.parse(SecretBytes(copying: text)) }
    }

    @Test("A key that cannot decrypt says why not")
    func refusals() throws {
        #expect(failure(try sshExample("locked")) == .sshIdentity(.encrypted))
        #expect(failure(try sshExample("weak")) == .sshIdentity(.weak(bits: 1_024)))
        #expect(failure(try sshExample("ecdsa")) == .sshIdentity(.unsupported("ecdsa-sha2-nistp256")))
        #expect(failure(try sshExample("ed") + sshExample("rsa")) == .sshIdentity(.malformed))
        for end in [100, 200, 380] {
            #expect(failure(Array(try sshExample("ed").prefix(end))) == .sshIdentity(.malformed))
        }
        #expect(failure(Array("-----BEGIN PUBLIC KEY-----\n".utf8)) == .sshIdentity(.malformed))
    }

    @Test("The file is an identity, and nothing else is in it")
    func file() throws {
        let file = try IdentityFile.parse(SecretBytes(copying: sshExample("ed")))
        #expect(file.identities.isEmpty && file.plugins.isEmpty && file.comments.isEmpty)
        #expect(try file.held.map(\.publicKey) == [sshIdentity("ed").recipient.description])
        #expect(file.all.count == 1)
    }

    @Test("No changed byte of a key gives another key: damage is found", arguments: ["ed", "rsa"])
    func damage(_ name: String) throws {
        let lines = String(decoding: try sshExample(name), as: UTF8.self).split(separator: "\n")
        let bytes = try #require(Base64.decode(lines.dropFirst().dropLast().joined()))
        let recipient = try sshIdentity(name).recipient
        var same = 0
        func isOfType(_ failure: AgeFailure?) -> Bool {
            if case .sshIdentity(.unsupported) = failure { true } else { failure == .sshIdentity(.encrypted) }
        }
        for index in stride(from: 0, to: bytes.count, by: name == "ed" ? 1 : 37) {
            var changed = bytes
            changed[index] ^= 1
            let text = "\(lines[0])\n\(Base64.encode(changed))\n\(lines[lines.count - 1])\n"
            // The comment may be any text.
            let found = ageFailure {
                let bytes = Array(text.utf8)
                let identity = try SSHIdentity.parse(bytes.span)
                #expect(identity.recipient == recipient)
                same += 1
            }
            #expect(found == nil || found == .sshIdentity(.malformed) || isOfType(found), "\(index)")
        }
        #expect(same <= "ada@example.org".utf8.count)
    }
}
