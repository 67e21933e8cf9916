import KCKeychainModel
import KCTestSupport
import Testing

@Suite struct TimestampTests {
    @Test(
        "Known moments have the expected text",
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"), (978_307_200_000_000, "2001-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"), (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (4_107_542_400_000_001, "2100-03-01T00:00:00.000001Z"), (Timestamp.earliest, "0001-01-01T00:00:00.000000Z"),
            (Timestamp.latest, "9999-12-31T23:59:59.999999Z"), (1_772_357_400_000_000, "2026-03-01T09:30:00.000000Z"),
        ] as [(Int64, String)])
    func known(microseconds: Int64, spelling: String) throws {
        let moment = try #require(Timestamp(microseconds: microseconds))
        #expect(moment.description == spelling)
        #expect(Timestamp(spelling) == moment)
    }

    @Test("A timestamp survives a round trip, and texts sort like their moments")
    func roundTrip() throws {
        var random = SeededRandom(seed: 7)
        var moments: [Timestamp] = []
        for _ in 0..<2_000 {
            moments.append(
                try #require(
                    Timestamp(microseconds: .random(in: Timestamp.earliest...Timestamp.latest, using: &random))))
        }
        for moment in moments { #expect(Timestamp(moment.description) == moment) }
        #expect(moments.sorted().map(\.description) == moments.map(\.description).sorted())
    }

    @Test("Consecutive days have consecutive dates over four centuries")
    func calendar() throws {
        var day = try #require(Timestamp("1896-01-01T00:00:00.000000Z"))
        var expected = (year: 1896, month: 1, day: 1)
        while expected.year < 2305 {
            let found = day.components
            guard (found.year, found.month, found.day) == expected else {
                Issue.record("expected \(expected), found \(found)")
                return
            }
            let isLeap = expected.year % 4 == 0 && (expected.year % 100 != 0 || expected.year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            expected.day += 1
            if expected.day > lengths[expected.month - 1] { expected = (expected.year, expected.month + 1, 1) }
            if expected.month > 12 { expected = (expected.year + 1, 1, 1) }
            day = day.advanced(byMicroseconds: 86_400_000_000)
        }
    }

    @Test(
        "Any other format is refused",
        arguments: [
            "", "2026-03-01", "2026-03-01T09:30:00Z", "2026-03-01T09:30:00.000Z", "2026-03-01T09:30:00.000000",
            "2026-03-01 09:30:00.000000Z", "2026-03-01T09:30:00.000000z", "2026-02-29T00:00:00.000000Z",
            "2026-13-01T00:00:00.000000Z", "2026-00-01T00:00:00.000000Z", "2026-01-00T00:00:00.000000Z",
            "2026-04-31T00:00:00.000000Z", "2026-01-01T24:00:00.000000Z", "2026-01-01T23:60:00.000000Z",
            "2026-01-01T23:59:60.000000Z", "0000-01-01T00:00:00.000000Z", "-026-01-01T00:00:00.000000Z",
            "2026-01-01T00:00:00.00000٠Z", "+026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z ",
        ])
    func refused(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test("Moments outside the years 1 to 9999 are refused, and addition is clamped to them")
    func range() throws {
        #expect(Timestamp(microseconds: Timestamp.earliest - 1) == nil)
        #expect(Timestamp(microseconds: Timestamp.latest + 1) == nil)
        let last = try #require(Timestamp(microseconds: Timestamp.latest))
        #expect(last.advanced(byMicroseconds: 1) == last)
        #expect(last.advanced(byMicroseconds: .max) == last)
        #expect(Timestamp.reference.advanced(byMicroseconds: .min).microseconds == Timestamp.earliest)
    }
}

@Suite struct ItemUUIDTests {
    @Test("A UUID is created from bytes and from text in either case, but only lowercase is canonical")
    func roundTrip() throws {
        let bytes: [UInt8] = (0..<16).map { UInt8($0) &* 17 }
        let found = ItemUUID(bytes: bytes.span)
        let uuid = try #require(found)
        #expect(uuid.bytes == bytes)
        #expect(uuid.description == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(ItemUUID(uuid.description) == uuid)
        #expect(ItemUUID(uuid.description.uppercased()) == uuid)
        let upper = ItemUUID(parsing: Array(uuid.description.uppercased().utf8).span)
        #expect(upper == nil)
    }

    @Test(
        "Anything but a UUID is refused",
        arguments: [
            "", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-aabbccddeeff0",
            "00112233445566778899aabbccddeeff", "{0112233-4455-6677-8899-aabbccddeeff",
            "0011223-34455-6677-8899-aabbccddeeff",
            "g0112233-4455-6677-8899-aabbccddeeff",
        ])
    func refused(text: String) {
        #expect(ItemUUID(text) == nil)
        let short = ItemUUID(bytes: [UInt8](repeating: 0, count: 15).span)
        #expect(short == nil)
    }

    @Test("At each position, only hexadecimal digits or the dash are accepted", arguments: 0..<36)
    func everyByte(place: Int) {
        var text = Array("00112233-4455-6677-8899-aabbccddeeff".utf8)
        for byte in UInt8.min ... .max {
            text[place] = byte
            let isDash = [8, 13, 18, 23].contains(place)
            let isTaken = isDash ? byte == UInt8(ascii: "-") : Array("0123456789abcdef".utf8).contains(byte)
            let uuid = ItemUUID(parsing: text.span)
            #expect((uuid != nil) == isTaken, "byte \(byte)")
            if let uuid { #expect(Array(uuid.description.utf8) == text) }
        }
    }

    @Test("A new UUID is unique and of version 4")
    func version() {
        let uuids = (0..<64).map { _ in ItemUUID() }
        #expect(Set(uuids).count == 64)
        for uuid in uuids { #expect(uuid.bytes[6] >> 4 == 4 && uuid.bytes[8] >> 6 == 2) }
    }
}
