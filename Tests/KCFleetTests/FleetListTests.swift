import Foundation
import KCDeviceIdentity
import Testing

@testable import KCFleet

@Suite("Lists of a fleet")
struct FleetListTests {
    private let device: DeviceKey

    init() throws { device = try Fleet.device(1) }

    private func inventory(_ text: String) throws -> Inventory { try Inventory(Array(text.utf8)) }
    private func signers(_ text: String) throws -> AllowedSigners { try AllowedSigners(Array(text.utf8)) }

    @Test("A line of the inventory has an ID, a name and perhaps an age; the rest are comments")
    func inventories() throws {
        let (a, b, c) = (try Fleet.device(1).id, try Fleet.device(2).id, try Fleet.device(3).id)
        let list = try inventory("# office\n\n\(a) ada\r\n  \(b)\tbob 8d\n\(c) old-laptop -\n#\(a) x")
        #expect(list.machines.count == 3 && list.machines[a]?.name == "ada")
        #expect(list.machines[a]?.expectation == .usual && list.machines[c]?.expectation == .nothing)
        #expect(list.machines[b]?.expectation == MaximumAge("192h").map { .within($0) })
    }

    @Test("A line of the inventory that cannot be understood is named, and nothing is guessed")
    func wrongInventories() throws {
        let id = device.id.description
        for line in [id, "laptop \(id)", "\(id.dropLast()) laptop", "\(id) laptop 26", "\(id) laptop 26h now"] {
            #expect(throws: FleetListFailure.inventoryLine(2), "\(line)") { try inventory("# office\n\(line)\n") }
        }
        for age in ["366d", "1500d", "99999d", "8761h"] {
            #expect(throws: FleetListFailure.age(1), "\(age)") { try inventory("\(id) a \(age)") }
        }
        #expect(try inventory("\(id) a 365d").longestAge(usual: Inventory.ageLimit) == Inventory.ageLimit)
        #expect(throws: FleetListFailure.listedTwice(3)) { try inventory("\(id) a\n\n\(id) b") }
        #expect(throws: FleetListFailure.notText) { try Inventory([0xff, 0x0a]) }
    }

    @Test("Two machines have two names, unless nothing is expected of one of them")
    func names() throws {
        let (a, b, c) = (try Fleet.device(1).id, try Fleet.device(2).id, try Fleet.device(3).id)
        #expect(throws: FleetListFailure.namedTwice(2)) { try inventory("\(a) ada\n\(b) ada 8d") }
        #expect(try inventory("\(a) ada -\n\(b) ada\n\(c) ada -").machines.count == 3)
    }

    @Test("An inventory without a machine is refused: nobody would be missed")
    func emptyInventories() {
        for text in ["", "\n", "# office\n\n# laptops"] {
            #expect(throws: FleetListFailure.noMachine, "\(text)") { try inventory(text) }
        }
    }

    @Test("Signers are read as ssh-keygen reads them, with or without options and comments")
    func signerLines() throws {
        let line = device.allowedSignersLine
        let key = line.components(separatedBy: "ssh-ed25519 ")[1]
        for text in [
            line, "\(line) ada's laptop", "* ssh-ed25519 \(key)",
            "a,b namespaces=\"file,kcbackup-receipt\" ssh-ed25519 \(key)",
            "\"a b\" ssh-ed25519 \(key)", "# nobody\n\n\(line)\n",
        ] { #expect(try signers(text).devices.keys.map(\.self) == [device.id], "\(text)") }
        #expect(try signers("\(line) ada's laptop").devices[device.id] == "ada's laptop")
    }

    @Test("A key that is for something else, of another kind, or an authority, is left out")
    func otherKeys() throws {
        let key = device.allowedSignersLine.components(separatedBy: "ssh-ed25519 ")[1]
        for text in [
            "a namespaces=\"git\" ssh-ed25519 \(key)", "a cert-authority ssh-ed25519 \(key)", "a ssh-rsa AAAA",
            "a namespaces=\"kcbackup-other\" ssh-ed25519 \(key)",
        ] { #expect(try signers(text).devices.isEmpty, "\(text)") }
    }

    @Test("A line of signers that cannot be understood, or that limits a key further, is refused")
    func wrongSigners() throws {
        let key = device.allowedSignersLine.components(separatedBy: "ssh-ed25519 ")[1]
        for text in ["a", "a ssh-ed25519", "a ssh-ed25519 AAAA", "a \"b ssh-ed25519 \(key)", "a b c d"] {
            #expect(throws: FleetListFailure.self, "\(text)") { try signers(text) }
        }
        for option in ["valid-before=\"20270101\"", "namespaces=kcbackup", "verify-required"] {
            #expect(throws: FleetListFailure.signerOption(1)) { try signers("a \(option) ssh-ed25519 \(key)") }
        }
    }
}
