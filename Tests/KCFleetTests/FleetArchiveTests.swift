import KCDeviceIdentity
import Testing

@testable import KCFleet

@Suite("The paths of archives in a fleet")
struct FleetArchiveTests {
    private let device: String

    init() throws { device = try Fleet.device(1).id.description }

    @Test("A path has the folder of a device and the name of an archive, and nothing else")
    func paths() {
        func isArchive(_ path: String) -> Bool { FleetArchive(path: Array(path.utf8), size: 1) != nil }
        #expect(isArchive("\(device)/login-KC-ABCDEFGH-20261124T031455Z.kcb") && isArchive("\(device)/a b,c.kcb"))
        for path in [
            "", "a.kcb", "\(device)/a", "\(device)/x/a.kcb", "\(device)//a.kcb", "/\(device)/a.kcb",
            "\(device.lowercased())/a.kcb", "../\(device)/a.kcb", "\(device)/a\nb.kcb", "\(device)/a\t.kcb",
            "\(device)/" + String(repeating: "x", count: 252) + ".kcb",
        ] { #expect(!isArchive(path), "\(path)") }
        #expect(FleetArchive(path: Array("\(device)/".utf8) + [0xff] + Array(".kcb".utf8), size: 1) == nil)
    }
}
