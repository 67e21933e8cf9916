import KCByteStreams
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Files that only this device can change")
struct StateFileTests {
    private static let kind = StateFile.Kind("job", version: 1)
    private let folder: TemporaryFolder
    private let device: DeviceKey
    private var path: String { folder.path("x") }

    init() throws {
        folder = try TemporaryFolder()
        device = try DeviceKey.generate()
    }

    private func file(_ kind: StateFile.Kind = kind, about subject: String = "x", of device: DeviceKey? = nil)
        -> StateFile
    {
        StateFile(path, kind, about: subject, of: device ?? self.device)
    }

    @Test("What was written is read, and a missing file is none")
    func roundTrip() throws {
        #expect(try file().read() == nil)
        for body in ["", "a b\n", "mac \n", "no line feed", "\u{301}\r\n\0\n"] {
            try file().write(Array(body.utf8))
            #expect(try file().read() == Array(body.utf8))
        }
        #expect(throws: StateFileFailure.file(FileFailure(path, .exists))) { try file().create([]) }
    }

    @Test("A change of any bit, and a cut at any byte, is noticed")
    func everyBit() throws {
        try file().write(Array("time daily\n".utf8))
        let genuine = try folder.read("x")
        for index in genuine.indices {
            for bit in 0..<8 {
                var changed = genuine
                changed[index] ^= 1 << bit
                try folder.write("x", changed, mode: 0o600)
                #expect(throws: StateFileFailure.self, "byte \(index), bit \(bit)") { try file().read() }
            }
            try folder.write("x", Array(genuine[..<index]), mode: 0o600)
            #expect(throws: StateFileFailure.altered(path: path), "cut at \(index)") { try file().read() }
        }
        for added in [genuine + [10], [10] + genuine, genuine + genuine] {
            try folder.write("x", added, mode: 0o600)
            #expect(throws: StateFileFailure.altered(path: path)) { try file().read() }
        }
    }

    @Test("A genuine file of another kind, subject, version or device is refused")
    func others() throws {
        try file().write([])
        #expect(throws: StateFileFailure.altered(path: path)) { try file(about: "y").read() }
        #expect(throws: StateFileFailure.altered(path: path)) { try file(StateFile.Kind("run", version: 1)).read() }
        #expect(throws: StateFileFailure.otherFormat(path: path)) { try file(StateFile.Kind("job", version: 2)).read() }
        let other = try DeviceKey.generate()
        #expect(throws: StateFileFailure.otherDevice(path: path, device.id)) { try file(of: other).read() }
    }

    @Test("Values are split as bytes: no character hides the end of a name or of a line")
    func fields() throws {
        var fields = StateFields()
        fields.add("create", ["--to", "", " ", "\u{301}", "a\r", "\u{301}b c"])
        fields.add("hook", nil as String?)
        #expect(StateFields(parsing: fields.encoded) == fields)
        #expect(fields.values("create").map { Array($0.utf8) }[3] == Array("\u{301}".utf8))
        #expect(
            !StateFields.isOneLine("a\r\nb") && !StateFields.isOneLine("a\n\u{301}b") && StateFields.isOneLine("a\r"))
        for text in ["a", "a b", "a b\n\n", "noname\n"] {
            #expect(StateFields(parsing: Array(text.utf8)) == nil, "\(text)")
        }
        #expect(StateFields(parsing: [97, 32, 0xff, 10]) == nil)
        #expect(StateFields(parsing: [])?.fields == [])
    }
}
