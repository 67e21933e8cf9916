import Foundation
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCFleet

@Suite("Receipts", .waitsForPrograms)
struct ReceiptTests {
    private let device: DeviceKey

    init() throws { device = try Fleet.device(1) }

    @Test("A receipt is read as it was signed, and its name tells device, day, time and number")
    func roundTrip() throws {
        let receipt = Fleet.receipt(
            device, sequence: 142, good: Fleet.now, keys: ["b", "a", "passphrase"], archives: 2)
        let bytes = try receipt.signed(by: device)
        #expect(try Receipt(verifying: bytes) == receipt)
        let name = "\(device.id)-030000Z-142.json"
        #expect(receipt.name.description == name && receipt.name.day.description == "2026-11-24")
        #expect(ReceiptName(name, on: receipt.name.day) == receipt.name)
    }

    @Test("A receipt is JSON in one line of at most 2 KiB, however many archives and keys the job has")
    func sizeLimit() throws {
        let job = String(repeating: "\"", count: Receipt.jobLimit)
        let receipt = Fleet.receipt(
            device, job: job, good: Fleet.now, items: 90_000, keys: (0..<400).map { "age1\($0)" }, archives: 300)
        let bytes = try receipt.signed(by: device)
        #expect(bytes.count <= Receipt.sizeLimit && bytes.firstIndex(of: 0x0a) == bytes.count - 1)
        let read = try Receipt(verifying: bytes)
        #expect(read.archiveCount == 300 && read.size == 300 * 9_000 && !read.archives.isEmpty)
        #expect(read.keySet == receipt.keySet && read.counts == receipt.counts && read.job == job)
    }

    @Test("The jobs of a machine are in its receipt, each once and in order, if there is room")
    func jobs() throws {
        let receipt = Fleet.receipt(device, job: "b", keys: (0..<400).map { "age1\($0)" }, jobs: ["b", "a\"", "b"])
        #expect(receipt.jobs == ["a\"", "b"])
        #expect(try Receipt(verifying: receipt.signed(by: device)) == receipt)
        let many = (0..<8).map { String(repeating: "\"", count: 30) + String($0) }
        let full = Fleet.receipt(
            device, job: String(repeating: "\"", count: Receipt.jobLimit), good: Fleet.now, items: 90_000,
            keys: (0..<400).map { "age1\($0)" }, archives: 300, jobs: many)
        #expect(full.jobs.count == 8 || full.jobs.isEmpty)
        #expect(try full.signed(by: device).count <= Receipt.sizeLimit)
        #expect(Fleet.receipt(device, jobs: (0..<100).map { "job \($0)" }).jobs.isEmpty)
    }

    @Test("The keys are told apart in any order, and none is named")
    func keys() throws {
        let one = Fleet.receipt(device, keys: ["age1a", "age1b"])
        #expect(one.keySet == Fleet.receipt(device, keys: ["age1b", "age1a"]).keySet)
        #expect(one.keySet != Fleet.receipt(device, keys: ["age1a"]).keySet)
        #expect(one.keySet != Fleet.receipt(device, keys: ["age1a\nage1b"]).keySet || one.keys.count == 2)
        #expect(!String(decoding: try one.signed(by: device), as: UTF8.self).contains("age1"))
    }

    @Test("No bit of a receipt can be changed, and no byte left out or added")
    func anyChange() throws {
        let bytes = try Fleet.receipt(device).signed(by: device)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(throws: ReceiptProblem.self) { try Receipt(verifying: changed) }
        }
        for count in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: ReceiptProblem.self) { try Receipt(verifying: Array(bytes[..<count])) }
        }
        #expect(throws: ReceiptProblem.forged) { try Receipt(verifying: bytes + [0x0a]) }
        #expect(throws: ReceiptProblem.tooLarge) {
            try Receipt(verifying: bytes + [UInt8](repeating: 0x20, count: 2_000))
        }
    }

    /// A file with the payload that is given, signed well.
    private func signed(_ payload: String, as namespace: SSHSignature.Namespace = .receipt) throws -> [UInt8] {
        let signature = try SSHSignature.sign(message: Array(payload.utf8), with: device, as: namespace)
        var text = Array("\(payload),\"signature\":".utf8)
        CanonicalJSON.string(String(decoding: signature, as: UTF8.self), into: &text)
        return text + Array("}\n".utf8)
    }

    private func payload() throws -> String {
        let text = String(decoding: try Fleet.receipt(device).signed(by: device), as: UTF8.self)
        return String(try #require(text.components(separatedBy: ",\"signature\"").first))
    }

    @Test("A signature that the device made for something else is none of a receipt")
    func otherNamespace() throws {
        #expect(throws: Never.self) { try Receipt(verifying: signed(payload())) }
        #expect(throws: ReceiptProblem.forged) { try Receipt(verifying: signed(payload(), as: .archive)) }
    }

    @Test("One device cannot speak for another")
    func otherSigner() throws {
        let other = try Fleet.device(2)
        let text = try payload().replacing(device.id.description, with: other.id.description)
        #expect(throws: ReceiptProblem.otherSigner(device.id)) { try Receipt(verifying: signed(text)) }
    }

    @Test(
        "What is signed is read strictly",
        arguments: [
            ("\"kcbackup-receipt\":1", "\"kcbackup-receipt\":2"), ("\"sequence\":1", "\"sequence\":0"),
            ("\"sequence\":1", "\"sequence\":-1"), ("\"sequence\":1", "\"sequence\":9223372036854775808"),
            ("03:00:00.000000Z\",\"job\"", "03:00:00.000001Z\",\"job\""), ("nightly", ""), ("nightly", "a/b"),
            ("\"result\":0", "\"result\":256"), ("\"count\":1", "\"count\":0"), ("\"count\":1", "\"count\":100001"),
            ("\"size\":9000", "\"size\":-1"), ("{\"kcb", "{ \"kcb"), ("KC-", "kc-"),
        ])
    func strictness(part: String, change: String) throws {
        let text = try payload()
        let range = try #require(text.range(of: part))
        let changed = try signed(text.replacingCharacters(in: range, with: change))
        #expect(throws: ReceiptProblem.self) { try Receipt(verifying: changed) }
    }

    @Test("ssh-keygen accepts the signature, for receipts only")
    func judgedByOpenSSH() throws {
        let folder = try TemporaryFolder()
        let bytes = try Fleet.receipt(device).signed(by: device)
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.components(separatedBy: ",\"signature\":\"")
        let armor = parts[1].replacing("\\u000a", with: "\n").replacing("\"}\n", with: "")
        try folder.write("signature", Array(armor.utf8))
        let line = device.allowedSignersLine.replacing("\"kcbackup\"", with: "\"kcbackup-receipt\"")
        try folder.write("signers", Array("\(line)\n".utf8))
        for (namespace, isRight) in [("kcbackup-receipt", true), ("kcbackup", false)] {
            let outcome = try ExternalProgram.run(
                "ssh-keygen",
                [
                    "-Y", "verify", "-f", folder.path("signers"), "-I", device.id.description, "-n", namespace, "-s",
                    folder.path("signature"),
                ], input: Array(parts[0].utf8))
            #expect((outcome.status == 0) == isRight, "\(outcome.text)\(outcome.errorText)")
        }
    }

    @Test("A name that is spelled otherwise, or leads elsewhere, is not that of a receipt")
    func names() throws {
        let day = ReceiptDay(Fleet.now)
        let id = device.id.description
        for name in [
            "", ".json", "\(id).json", "\(id)-030000Z.json", "\(id)-030000Z-0.json", "\(id)-030000Z-01.json",
            "\(id)-030000Z-+1.json", "\(id)-250000Z-1.json", "\(id)-030000-1.json", "\(id)-030000Z-1.json ",
            "\(id.lowercased())-030000Z-1.json", "../\(id)-030000Z-1.json", "\(id)-030000Z-1.json.part",
            "\(id)-030000.000000Z-1.json", "\(id)-030000Z-1-2.json",
        ] { #expect(ReceiptName(name, on: day) == nil, "\(name)") }
    }

    @Test("Days begin at midnight in UTC, also before 1970, and follow each other over the end of a year")
    func days() {
        #expect(ReceiptDay(Fleet.at("2026-12-31T23:59:59.999999Z")).next.description == "2027-01-01")
        #expect(ReceiptDay(Fleet.at("1969-12-31T12:00:00.000000Z")).description == "1969-12-31")
        let days = ReceiptDay.days(
            from: ReceiptDay(Fleet.at("2024-02-28T00:00:00.000000Z")),
            through: ReceiptDay(Fleet.at("2024-03-01T23:00:00.000000Z")))
        #expect(days.map(\.description) == ["2024-02-28", "2024-02-29", "2024-03-01"])
    }

    @Test("Numbers rise by one, also in another process, and a file that was altered gives none")
    func sequence() throws {
        let folder = try TemporaryFolder()
        for number in 1...3 {
            #expect(try ReceiptSequence(besideKeyAt: folder.path("device.key"), of: device).next() == Int64(number))
        }
        let name = "receipt-sequence-\(device.id)"
        let bytes = try folder.read(name)
        let changed = String(decoding: bytes, as: UTF8.self).replacing("last 3", with: "last 1")
        try folder.write(name, Array(changed.utf8))
        #expect(throws: StateFileFailure.altered(path: folder.path(name))) {
            try ReceiptSequence(besideKeyAt: folder.path("device.key"), of: device).next()
        }
    }
}
