import KCByteStreams
import KCItemSources
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Dates that cannot be read")
struct UnreadableDateTests {
    /// Each format, a file with one record, and the dates in it.
    private static let cases: [(any ForeignFormat, String, dates: [String])] = [
        (
            EnpassFormat(),
            #"{"folders":[{"parent_uuid":"","uuid":"f","title":"F"}],"items":[{"uuid":"a","title":"T","category":"login","#
                + #""template_type":"login.default","createdAt":1700000000,"updated_at":1700000001,"fields":["#
                + #"{"type":"password","label":"P","value":"p"}]}]}"#,
            ["1700000000", "1700000001"]
        ),
        (
            ProtonPassFormat(),
            #"{"encrypted":false,"vaults":{"v":{"name":"V","items":[{"itemId":"a","createTime":1700000000,"#
                + #""modifyTime":1700000001,"data":{"metadata":{"name":"n"},"type":"login","content":{"itemUsername":"u","#
                + #""password":"p","urls":[]}}}]}}}"#,
            ["1700000000", "1700000001"]
        ),
        (
            OnePasswordFormat(),
            #"{"accounts":[{"vaults":[{"attrs":{"name":"V"},"items":[{"uuid":"a","categoryUuid":"005","createdAt":1700000000,"#
                + #""updatedAt":1700000001,"details":{"password":"p"},"overview":{"title":"t"}}]}]}]}"#,
            ["1700000000", "1700000001"]
        ),
        (
            PIFFormat(),
            #"{"uuid":"A","typeName":"passwords.Password","title":"t","createdAt":1700000000,"updatedAt":1700000001,"#
                + #""secureContents":{"password":"p"}}"# + "\n***5642bee8-a5ff-11dc-8314-0800200c9a66***\n",
            ["1700000000", "1700000001"]
        ),
        (
            CXFFormat(),
            #"{"version":{"major":1,"minor":0},"exporterRpId":"e","accounts":[{"id":"A","items":[{"id":"aQ","title":"T","#
                + #""creationAt":1700000000,"modifiedAt":1700000001,"credentials":[{"type":"basic-auth","#
                + #""password":{"value":"p"}}]}]}]}"#,
            ["1700000000", "1700000001"]
        ),
        (
            KeeperFormat(),
            #"{"shared_folders":[],"records":[{"title":"t","login":"u","password":"p","last_modified":1700000000,"folders":[]}]}"#,
            ["1700000000"]
        ),
        (
            TwoFASFormat(),
            #"{"schemaVersion":4,"services":[{"name":"F","secret":"MZXQ","updatedAt":1700000000000,"otp":{"account":"u"}}]}"#,
            ["1700000000000"]
        ),
        (
            KubernetesFormat(),
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"n","creationTimestamp":"2026-01-01T00:00:00Z"},"#
                + #""type":"Opaque","data":{"a":"cA=="}}"#,
            ["2026-01-01T00:00:00Z"]
        ),
    ]

    private func read(_ text: String, as format: any ForeignFormat) throws -> ForeignContents {
        guard format is OnePasswordFormat else { return try ForeignReading.read(text, as: format) }
        let members = [("export.attributes", #"{"version":3}"#), ("export.data", text)]
        return try ForeignReading.read(ZipWriter.zip(members.map { ($0.0, Array($0.1.utf8)) }), as: format)
    }

    @Test("Each is counted, and its record is read", arguments: cases.indices)
    func counted(index: Int) throws {
        let (format, text, dates) = Self.cases[index]
        let sound = try read(text, as: format)
        #expect(sound.items.count == 1 && sound.leftOut.isEmpty && sound.refused == [], "\(sound.leftOut)")
        for date in dates {
            let isText = text.contains("\"\(date)\"")
            // A year that no item can have, text, and for numbers a fraction.
            for odd in isText ? ["yesterday", "2026-13-01T00:00:00Z"] : ["9223372036854775807", "\"then\"", "1.5"] {
                let contents = try read(text.replacing(date, with: odd), as: format)
                #expect(try contents.listing == sound.listing, "\(odd)")
                #expect(contents.leftOut.map { "\($0.count) \($0.kind)" } == ["1 unreadable date"], "\(odd)")
                #expect(contents.refused == [] && contents.remarks == [], "\(odd)")
            }
        }
    }
}
