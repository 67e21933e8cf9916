import Foundation
import KCCryptography
import Testing

@Suite struct CertificateTimeTests {
    /// A certificate time, and the same moment as `YYYYMMDDhhmmss` in UTC.
    static let utcTimes = [
        ("1101010000Z", "20110101000000"), ("010101000001Z", "20010101000001"), ("990101000000Z", "19990101000000"),
        ("710101000000Z", "19710101000000"), ("500101000000Z", "19500101000000"), ("491231235959Z", "20491231235959"),
        ("000229120000Z", "20000229120000"), ("020101000000+0000", "20020101000000"),
        ("020101000000-0800", "20020101080000"), ("020101000000+0800", "20011231160000"),
        ("020101000000-0420", "20020101042000"), ("020101000013+0430", "20011231193013"),
    ]
    static let generalizedTimes = [
        ("20010101000001Z", "20010101000001"), ("20000101000000Z", "20000101000000"),
        ("20020101000000+0000", "20020101000000"), ("20020101000000-0800", "20020101080000"),
        ("20020101000000+0800", "20011231160000"), ("20020101000000-0420", "20020101042000"),
        ("20020101000013+0430", "20011231193013"), ("20060101000013+0900", "20051231150013"),
        ("20051231200013-0900", "20060101050013"), ("20081231200013-0900", "20090101050013"),
        ("20101231200013+0900", "20101231110013"), ("19001231200013Z", "19001231200013"),
        ("19700101000000Z", "19700101000000"), ("19691231235959Z", "19691231235959"),
        ("19840229000001Z", "19840229000001"), ("20000229000000Z", "20000229000000"),
        ("20010331000000Z", "20010331000000"), ("20010430000000Z", "20010430000000"),
        ("20010630000000Z", "20010630000000"), ("20010930000000Z", "20010930000000"),
        ("20011130000000Z", "20011130000000"), ("20011231000000Z", "20011231000000"),
        ("21000301120000Z", "21000301120000"), ("24000229120000Z", "24000229120000"),
        ("30000301120000Z", "30000301120000"), ("60000228120000Z", "60000228120000"),
        ("60800301120000Z", "60800301120000"), ("99991231235959Z", "99991231235959"),
    ]
    static let badUTCTimes = [
        "", "Z", "0101010000", "010101000000", "0201010000+0000", "010101000000z", "0101010000001Z", "010101000060Z",
        "010101006000Z", "010101240000Z", "011301000000Z", "010001000000Z", "010100000000Z", "010229000000Z",
        "010101000000.5Z", "010101000000+08", "010101000000+08000", "010101000000+0860", "010101000000 0800",
        "010101000000Z\0", " 010101000000Z", "-10101000000Z", "20010101000001Z",
    ]
    static let badGeneralizedTimes = [
        "", "201101010000Z", "2011010100Z", "20110101000000", "20110101000000.0Z", "19810229000002Z", "20000001000000Z",
        "20000100000000Z", "20000132000000Z", "20000230000000Z", "20010332000000Z", "20010431000000Z",
        "20010532000000Z", "20010631000000Z", "20010732000000Z", "20010832000000Z", "20010931000000Z",
        "20011032000000Z", "20011131000000Z", "20011232000000Z", "20011301000000Z", "21000229000000Z",
        "20010101000060Z", "20010101006000Z", "20010101240000Z", "010101000000Z", "2001０101000000Z",
    ]

    @Test("A UTCTime is read as Apple reads it", arguments: utcTimes)
    func utcTime(spelling: String, moment: String) throws {
        #expect(try CertificateTime.utcTime.secondsSince1970(Array(spelling.utf8)) == seconds(moment))
    }

    @Test("A GeneralizedTime is read as Apple reads it", arguments: generalizedTimes)
    func generalizedTime(spelling: String, moment: String) throws {
        #expect(try CertificateTime.generalizedTime.secondsSince1970(Array(spelling.utf8)) == seconds(moment))
    }

    @Test("An invalid time is refused")
    func refused() {
        for text in Self.badUTCTimes {
            #expect(CertificateTime.utcTime.secondsSince1970(Array(text.utf8)) == nil, "\(text)")
        }
        for text in Self.badGeneralizedTimes {
            #expect(CertificateTime.generalizedTime.secondsSince1970(Array(text.utf8)) == nil, "\(text)")
        }
    }

    /// Uses Foundation's calendar as an independent reference.
    private func seconds(_ moment: String) throws -> Int64 {
        let digits = moment.compactMap(\.wholeNumberValue)
        func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            year: number(0..<4), month: number(4..<6), day: number(6..<8), hour: number(8..<10),
            minute: number(10..<12),
            second: number(12..<14))
        return Int64(try #require(calendar.date(from: components)).timeIntervalSince1970)
    }
}
