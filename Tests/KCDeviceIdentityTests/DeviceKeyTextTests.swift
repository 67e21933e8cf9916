import KCByteStreams
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Device key text") struct DeviceKeyTextTests {
    private static let key = "KCBACKUP-DEVICE-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SYP5W88"
    private static let machine = "machine 66de23a9721405d963a6013e7889d72a6b75974dfd1db81ee6dfce693c4d68e2"

    @Test("The text of a key file is stable since version 1")
    func golden() throws {
        let device = try DeviceKey(secret: SecretBytes(copying: 0..<32))
        let text = DeviceKeyText(
            secret: SecretBytes(copying: 0..<32),
            machine: MachineIdentity(machineID: "0123456789abcdef0123456789abcdef"))
        let expected = """
            # kcbackup device key of KC-XNXS-ZUDT-L6BI-STV6-TX4P
            # Keep a copy in a safe place, and show it to nobody: keychains and unencrypted archives
            # of this device cannot be opened without it.
            \(Self.key)
            \(Self.machine)

            """
        #expect(String(decoding: text.encode(device: device.id).bytesForTest(), as: UTF8.self) == expected)
    }

    @Test(
        "Comments, empty lines, either order and a missing final newline are accepted",
        arguments: ["\(key)\n\(machine)\n", "\n# note\n\(machine)\n#\n\n\(key)", "\(machine)\n\(key)\n# end"])
    func accepted(text: String) throws {
        let parsed = try DeviceKeyText(parsing: SecretBytes(copying: text.utf8))
        #expect(parsed.secret.bytesForTest() == Array(0..<32))
        #expect("machine \(parsed.machine.description)" == Self.machine)
    }

    @Test(
        "Anything else is refused",
        arguments: [
            "", "# only a note\n", key, machine, "\(key)\n\(key)\n\(machine)", "\(key)\n\(machine)\n\(machine)",
            "\(key)\nmachine \n", "\(key)\nmachine NONE\n", "\(key)\n\(machine)0\n", "\(key) \n\(machine)\n",
            "\(key)\r\n\(machine)\r\n", "\(key)\n\(machine)\nmore\n", "\(key.lowercased())\n\(machine)\n",
            "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX\n\(machine)\n",
        ])
    func refused(text: String) {
        #expect(throws: DeviceKeyText.Malformed.self) {
            _ = try DeviceKeyText(parsing: SecretBytes(copying: text.utf8))
        }
    }

    @Test("Changing any character of the key is detected")
    func damage() {
        let characters = Array(Self.key.utf8)
        for index in characters.indices {
            for replacement in Array("QP1#".utf8) where characters[index] != replacement {
                var changed = characters
                changed[index] = replacement
                let text = changed + Array("\n\(Self.machine)\n".utf8)
                #expect(throws: DeviceKeyText.Malformed.self) {
                    _ = try DeviceKeyText(parsing: SecretBytes(copying: text))
                }
            }
        }
    }

    @Test(
        "Only 32 lowercase hexadecimal digits are a machine ID",
        arguments: ["", "uninitialized", "0123456789ABCDEF0123456789ABCDEF", "0123456789abcdef", "none"])
    func machineIDs(text: String) {
        #expect(MachineIdentity(machineID: text) == .unknown)
        #expect(MachineIdentity(machineID: text).description == "none")
    }
}
