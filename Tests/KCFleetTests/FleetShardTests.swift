import KCDeviceIdentity
import Testing

@testable import KCFleet

@Suite("Parts of the machines of a fleet")
struct FleetShardTests {
    @Test("Each machine is in one part, and the parts are of about the same size")
    func parts() throws {
        let devices = try (0..<1_000).map { try Fleet.device($0 + 1_000).id }
        let shards = try (1...4).map { try #require(FleetShard("\($0)/4")) }
        for device in devices { #expect(shards.count { $0.contains(device) } == 1) }
        for shard in shards { #expect((200...300).contains(devices.count(where: shard.contains))) }
    }

    @Test(
        "A part is a number of another one",
        arguments: ["", "0/4", "5/4", "1/0", "1/1001", "1", "1/4/4", "01/4", "-1/4"])
    func malformed(text: String) {
        #expect(FleetShard(text) == nil)
    }
}
