import Glibc
import KCBackupCatalogue
import KCKeychainModel
import KCReportText
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

@Suite("Times are those of the user's zone, which is named")
struct LocalTimeTests {
    private static let india = LocalCalendar(zone: "IST", secondsFromUTC: 19_800)

    @Test("A time is shown as on the user's wall, on the user's day, with its zone")
    func forms() throws {
        let time = try #require(Timestamp("2025-12-31T19:05:09.999999Z"))
        #expect(Self.india.day(time) == "2026-01-01")
        #expect(Self.india.minute(time) == "2026-01-01 00:35")
        #expect(Self.india.moment(time) == "2026-01-01 00:35:09 IST")
        #expect(Self.india.zones(inYearOf: time) == "IST")
        #expect(LocalCalendar.utc.moment(time) == "2025-12-31 19:05:09 UTC")
    }

    @Test("A zone with summer time is named by both names, and each time by its own")
    func summer() async {
        // In a process of its own, since a time zone is one of the process.
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            tzset()
            let calendar = LocalCalendar()
            let (winter, summer) = try (
                #require(Timestamp("2026-01-15T12:00:00.000000Z")), #require(Timestamp("2026-07-15T12:00:00.000000Z"))
            )
            #expect(calendar.zones(inYearOf: winter) == "CET/CEST")
            #expect(calendar.moment(winter) == "2026-01-15 13:00:00 CET")
            #expect(calendar.moment(summer) == "2026-07-15 14:00:00 CEST")
        }
    }

    @Test("Tables name the zone once, texts beside the time, and JSON and names of files stay in UTC")
    func commands() throws {
        let home = try TestHome()
        func run(_ line: String) -> TestHome.Outcome {
            home.run(line.split(separator: " ").map(String.init), calendar: Self.india)
        }
        #expect(run("keychain create --no-passcode").status == .ok)
        let info = run("keychain info")
        let created = try #require(info.text.firstMatch(of: /created +(.*) IST\n/)).output.1
        let json = run("keychain info --json").text
        #expect(!json.contains("IST") && !json.contains(created))
        #expect(json.contains(/"created":"[0-9-]+T[0-9:.]+Z"/))
        #expect(run("item add --service wiki --generate").status == .ok)
        let item = run("item find --service wiki").text
        #expect(item.contains(/(?m)^created +[0-9-]+ [0-9:]+ IST$/) && !item.contains("UTC"))
        #expect(run("create --unencrypted --to folder").status == .ok)
        #expect(run("list folder").text.contains("MADE (IST)"))
        let status = run("status").text
        #expect(status.contains("LAST GOOD (IST)") && !status.contains("UTC"))
    }
}
