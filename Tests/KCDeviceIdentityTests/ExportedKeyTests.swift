import KCByteStreams
import KCTestSupport
import Testing

@testable import KCDeviceIdentity

@Suite("Exporting and installing a device key")
struct ExportedKeyTests {
    private let folder: TemporaryFolder
    private let source: FileDeviceKeyProvider
    private let target: FileDeviceKeyProvider

    init() throws {
        folder = try TemporaryFolder()
        _ = try folder.write("here", Array((String(repeating: "a", count: 32) + "\n").utf8))
        _ = try folder.write("there", Array((String(repeating: "b", count: 32) + "\n").utf8))
        source = FileDeviceKeyProvider(path: folder.path("device.key"), machineIDPath: folder.path("here"))
        target = FileDeviceKeyProvider(path: folder.path("new/device.key"), machineIDPath: folder.path("there"))
    }

    @Test("An installed key makes another machine the same device, usable at once")
    func moved() throws {
        let device = try source.create()
        let text = try source.exported()
        #expect(try target.key(exportedAs: text, from: "copy").id == device.id)
        #expect(try target.install(text, from: "copy").id == device.id)
        #expect(try target.load().id == device.id)
        #expect(try target.status().machine == .same)
        // The original machine can still use the key.
        #expect(try source.load().id == device.id)
    }

    @Test("Installing the same key again records this machine, and a different key is never replaced")
    func keyIsThere() throws {
        _ = try source.create()
        let text = try source.exported()
        _ = try target.install(text, from: "copy")
        #expect(try target.install(text, from: "copy").id == source.load().id)
        let other = FileDeviceKeyProvider(path: folder.path("other/device.key"), machineIDPath: folder.path("here"))
        _ = try other.create()
        let before = try folder.read("other/device.key")
        #expect(throws: DeviceKeyFailure.exists(path: other.path)) { try other.install(text, from: "copy") }
        #expect(try folder.read("other/device.key") == before)
    }

    @Test("A key that is replaced on purpose is kept beside the new one, and can be put back")
    func replaced() throws {
        let old = try source.create().id
        let oldText = try source.exported()
        let other = FileDeviceKeyProvider(path: folder.path("other/device.key"), machineIDPath: folder.path("there"))
        let new = try other.create().id
        let replacement = try source.replace(by: other.exported(), from: "copy")
        #expect(replacement.device.id == new && replacement.retired == old)
        #expect(try source.load().id == new)
        #expect(try folder.read("device.key.retired-\(old)") == oldText.bytesForTest())
        #expect(try source.replace(by: oldText, from: "copy").device.id == old)
        #expect(throws: DeviceKeyFailure.notFound(path: target.path)) {
            _ = try target.replace(by: oldText, from: "copy")
        }
    }

    @Test("Malformed text is refused with the name of its source, and nothing is created")
    func malformed() throws {
        for text in ["", "KCBACKUP-DEVICE-KEY-1QQ\n", "# only a comment\n"] {
            #expect(throws: DeviceKeyFailure.self) {
                try target.install(SecretBytes(copying: text.utf8), from: "copy")
            }
        }
        #expect(try !target.holdsKey)
        #expect(throws: DeviceKeyFailure.notFound(path: source.path)) { _ = try source.exported() }
    }
}
