import KCDeviceIdentity
import KCKeychainModel
import Testing

@testable import KCFleet

@Suite("The report on a fleet")
struct FleetReportTests {
    private let ada: DeviceKey
    private let bob: DeviceKey
    private let inventory: String

    init() throws {
        ada = try Fleet.device(1)
        bob = try Fleet.device(2)
        inventory = "\(ada.id) ada\n\(bob.id) bob\n"
    }

    /// The states of the machine `ada`, whose receipts these are.
    private func states(_ files: [Fleet.File], hasServerTimes: Bool = true) throws -> [FleetReport.State] {
        let report = try Fleet.report(files, inventory: inventory, hasServerTimes: hasServerTimes)
        return try #require(report.machines.first { $0.name == "ada" }).states
    }

    @Test("A machine that reported is well, and one that is expected and did not is absent")
    func absent() throws {
        let report = try Fleet.report([Fleet.file(Fleet.receipt(ada), by: ada)], inventory: inventory)
        #expect(report.machines.map(\.name) == ["ada", "bob"])
        #expect(report.machines.map(\.states) == [[], [.absent]])
        #expect(report.goodCount == 1 && report.count(.absent) == 1 && report.rejectedCount == 0)
        #expect(report.machines[0].reported == Fleet.at("2026-11-24T03:00:02.000000Z"))
    }

    @Test("Nothing is expected of a machine whose line says so, and each may have an age of its own")
    func expectations() throws {
        let files = [
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 30), by: ada),
            try Fleet.file(Fleet.receipt(bob, hoursAgo: 30), by: bob),
        ]
        let list = "\(ada.id) ada 2d\n\(bob.id) bob\n\(try Fleet.device(3).id) cy -\n"
        let report = try Fleet.report(files, inventory: list)
        #expect(report.machines.map(\.states) == [[], [.late], []])
        // Of the third one, nothing is known, so that it is not well either.
        #expect(report.goodCount == 1 && report.unheardCount == 1)
    }

    @Test("Late is who had no good run for too long, even if runs that failed were reported since")
    func late() throws {
        let good = Fleet.now.advanced(byMicroseconds: -30 * 3_600_000_000)
        let failed = Fleet.receipt(ada, sequence: 2, result: 13, good: good)
        #expect(try states([Fleet.file(failed, by: ada)]) == [.late, .failed])
        let never = Fleet.receipt(ada, result: 13)
        #expect(try states([Fleet.file(never, by: ada)]) == [.late, .failed])
        let lately = Fleet.receipt(
            ada, sequence: 2, result: 13, good: Fleet.now.advanced(byMicroseconds: -6 * 3_600_000_000))
        #expect(try states([Fleet.file(lately, by: ada)]) == [.failed])
    }

    @Test("A run that failed before it found its archives is no loss of items, and none of keys")
    func nothingFound() throws {
        let files = try [
            Fleet.file(Fleet.receipt(ada, hoursAgo: 8), by: ada),
            Fleet.file(
                Fleet.receipt(
                    ada, hoursAgo: 6, sequence: 2, result: 74, good: Fleet.now, items: 0, keys: [], archives: 0),
                by: ada),
            Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 3), by: ada),
        ]
        #expect(try states(Array(files[..<2])) == [.failed])
        #expect(try states(files) == [])
        let report = try Fleet.report(Array(files[..<2]))
        #expect(report.machines[0].jobs[0].items == 40 && report.machines[0].jobs[0].archives == 1)
        // A run that says it was good with nothing in it is a loss.
        let empty = try Fleet.file(
            Fleet.receipt(ada, hoursAgo: 4, sequence: 4, items: 0, keys: ["age1a"], archives: 0), by: ada)
        #expect(try states(files + [empty]) == [.shrunk])
    }

    @Test("A machine that claims a good run in the future is as old as its receipt")
    func goodInTheFuture() throws {
        let future = Fleet.now.advanced(byMicroseconds: 90 * 3_600_000_000)
        let file = try Fleet.file(Fleet.receipt(ada, hoursAgo: 30, result: 13, good: future), by: ada)
        #expect(try states([file]) == [.late, .failed])
    }

    @Test("Of two receipts a day the newer counts, in whatever order they are seen")
    func twoADay() throws {
        let files = [
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 6, sequence: 1, result: 74), by: ada),
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 2, sequence: 2), by: ada),
        ]
        #expect(try states(files) == [] && states(files.reversed()) == [])
        let report = try Fleet.report(files.reversed(), inventory: inventory)
        #expect(report.machines[0].receipts == 2 && report.machines[0].jobs.map(\.result) == [0])
    }

    @Test("Jobs are judged each on its own")
    func severalJobs() throws {
        let files = [
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 6, sequence: 1, job: "desk", items: 300, keys: ["a"]), by: ada),
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 2, job: "login", items: 3, keys: ["b"]), by: ada),
        ]
        #expect(try states(files) == [])
        let failing = try Fleet.file(Fleet.receipt(ada, hoursAgo: 1, sequence: 3, job: "desk", result: 3), by: ada)
        #expect(try states(files + [failing]).contains(.failed))
    }

    @Test("A machine is late if one of its jobs has had no good run for too long, whatever the others do")
    func oneJobStopped() throws {
        let old = try Fleet.file(Fleet.receipt(ada, hoursAgo: 30, sequence: 1, job: "desk"), by: ada)
        let new = try Fleet.file(Fleet.receipt(ada, hoursAgo: 2, sequence: 2, job: "login"), by: ada)
        #expect(try states([old, new]) == [.late])
        let report = try Fleet.report([old, new], inventory: inventory)
        #expect(report.machines[0].good == Fleet.at("2026-11-23T02:00:00.000000Z"))
        let failing = try Fleet.file(
            Fleet.receipt(ada, hoursAgo: 1, sequence: 3, job: "desk", result: 3), by: ada)
        #expect(try states([new, failing]) == [.late, .failed])
    }

    @Test("A job that the newest receipt lists is missed even if nothing else says that it is there")
    func silentJob() throws {
        let new = try Fleet.file(Fleet.receipt(ada, job: "login", jobs: ["desk", "login"]), by: ada)
        #expect(try states([new]) == [.late])
        #expect(try Fleet.report([new], inventory: inventory).machines[0].good == nil)
    }

    @Test("Nothing is expected of a job that the newest receipt no longer lists")
    func removedJob() throws {
        let old = try Fleet.file(
            Fleet.receipt(ada, hoursAgo: 30, sequence: 1, job: "desk", jobs: ["desk", "login"]), by: ada)
        let new = try Fleet.file(Fleet.receipt(ada, sequence: 2, job: "login", jobs: ["login"]), by: ada)
        #expect(try states([old, new]) == [])
    }

    @Test("A loss of more than a fifth, or of all items of a kind, is told, also by the machine itself")
    func shrunk() throws {
        func files(_ before: Int, _ now: Int, result: Int32 = 0) throws -> [Fleet.File] {
            [
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 9, sequence: 1, items: before), by: ada),
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 2, result: result, items: now), by: ada),
            ]
        }
        #expect(try states(files(100, 80)) == [])
        #expect(try states(files(100, 79)) == [.shrunk])
        #expect(try states(files(1, 0)) == [.shrunk])
        #expect(try states(files(100, 100, result: 15)) == [.shrunk])
        #expect(try states(files(100, 300)) == [])
    }

    @Test("Other keys than before are told")
    func keys() throws {
        let files = [
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 9, sequence: 1, keys: ["a"]), by: ada),
            try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 2, keys: ["a", "thief"]), by: ada),
        ]
        #expect(try states(files) == [.keys])
    }

    @Test("A clock that differs from the server's is told, and only the server's decides who is late")
    func clocks() throws {
        for (seconds, isWrong) in [(800, false), (-800, false), (1_000, true), (-1_000, true)] as [(Int64, Bool)] {
            #expect(
                try states([Fleet.file(Fleet.receipt(ada), by: ada, seconds: seconds)]) == (isWrong ? [.clock] : []))
        }
        // Written 40 hours ago, by a clock that is 35 hours ahead.
        var file = try Fleet.file(Fleet.receipt(ada, hoursAgo: 5), by: ada, seconds: -35 * 3_600)
        #expect(try states([file]) == [.late, .clock])
        file.written = nil
        #expect(try states([file]) == [])
    }

    @Test("Where the server's times are unknown, those of files are not believed, and only a clock ahead is seen")
    func noServerTimes() throws {
        let old = try Fleet.file(Fleet.receipt(ada, hoursAgo: 30), by: ada, seconds: 29 * 3_600)
        #expect(try states([old], hasServerTimes: false) == [.late])
        let ahead = try Fleet.file(Fleet.receipt(ada, hoursAgo: -3), by: ada)
        #expect(try states([ahead], hasServerTimes: false) == [.clock])
    }

    @Test("A receipt under another day or name than it says is rejected, and does not make a machine well")
    func misplaced() throws {
        let receipt = Fleet.receipt(ada, hoursAgo: 29)
        var file = try Fleet.file(receipt, by: ada)
        file.day = ReceiptDay(Fleet.now)
        let report = try Fleet.report([file], inventory: inventory)
        #expect(report.machines[0].states == [.absent])
        #expect(report.rejected.map(\.problem) == [.receipt(.otherName(receipt.name))])
        var asBob = try Fleet.file(Fleet.receipt(ada), by: ada)
        asBob.name = ReceiptName(device: bob.id, time: Fleet.receipt(ada).time, sequence: 1).path
        #expect(try Fleet.report([asBob], inventory: inventory).machines.map(\.states) == [[.absent], [.absent]])
    }

    @Test("A number that is used twice or goes back is told: the device was copied or put back")
    func replayed() throws {
        for second in [2, 3] as [Int64] {
            let files = [
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 9, sequence: 3), by: ada),
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: second), by: ada),
            ]
            #expect(try states(files) == [.replayed])
        }
    }

    @Test(
        "Where only the machine says when, numbers that go back mean that its clock was set, unless one is used twice")
    func clockSetRight() throws {
        func states(_ second: Int64) throws -> [FleetReport.State] {
            let files = [
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 9, sequence: 3), by: ada),
                try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: second), by: ada),
            ]
            let report = try Fleet.report(files, inventory: "\(ada.id) ada\n", hasServerTimes: false)
            return try #require(report.machines.first).states
        }
        #expect(try states(2) == [.clock])
        #expect(try states(3) == [.replayed])
        #expect(try states(4) == [])
    }

    @Test("A good run of a clock that was fast is not taken for one of the receipt that repeats it")
    func goodToCome() throws {
        let ahead = Fleet.now.advanced(byMicroseconds: 365 * 86_400_000_000)
        for hasServerTimes in [true, false] {
            let file = try Fleet.file(Fleet.receipt(ada, hoursAgo: 1, sequence: 2, result: 10, good: ahead), by: ada)
            let report = try Fleet.report([file], inventory: "\(ada.id) ada\n", hasServerTimes: hasServerTimes)
            let machine = try #require(report.machines.first)
            #expect(machine.good == nil && machine.states == [.late, .failed])
        }
    }

    @Test(
        "Two jobs that end at once may report in either order; a smaller number after a quarter of an hour is a replay")
    func order() throws {
        let first = try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 2, job: "desk"), by: ada, seconds: 0)
        let second = try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 1, job: "login"), by: ada, seconds: 60)
        #expect(try states([first, second]) == [])
        let back = try Fleet.file(Fleet.receipt(ada, hoursAgo: 4, sequence: 1, job: "login"), by: ada)
        #expect(try states([first, back]) == [.replayed])
        // Put back from an image shortly after a receipt: the next one of the day after tells it.
        let soon = try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 1, job: "login"), by: ada, seconds: 60)
        let newest = try Fleet.file(Fleet.receipt(ada, hoursAgo: 5, sequence: 5, job: "desk"), by: ada, seconds: 0)
        let later = try Fleet.file(Fleet.receipt(ada, hoursAgo: 2, sequence: 2, job: "login"), by: ada)
        #expect(try states([newest, soon, later]) == [.replayed])
    }

    @Test("A run that failed and found fewer copies than before has lost no items")
    func fewerCopies() throws {
        let whole = try Fleet.file(Fleet.receipt(ada, hoursAgo: 9, sequence: 1, items: 60, archives: 2), by: ada)
        let partly = try Fleet.file(
            Fleet.receipt(
                ada, hoursAgo: 5, sequence: 2, result: 19, good: Fleet.now.advanced(byMicroseconds: -6 * 3_600_000_000),
                items: 20, archives: 1), by: ada)
        #expect(try states([whole, partly]) == [.failed])
    }

    @Test("An old receipt that is written again under its own name makes no machine well")
    func writtenAgain() throws {
        let old = try Fleet.file(Fleet.receipt(ada, hoursAgo: 30), by: ada, seconds: 29 * 3_600)
        #expect(try states([old]) == [.late, .clock])
    }

    @Test("What is forged, cut short, unread or no receipt is listed, and the machines are judged by the rest")
    func rejected() throws {
        let good = try Fleet.file(Fleet.receipt(ada), by: ada)
        var forged = try Fleet.file(Fleet.receipt(bob), by: bob)
        forged.contents?[20] ^= 1
        var cut = try Fleet.file(Fleet.receipt(ada, sequence: 2), by: ada)
        cut.contents?.removeLast(9)
        var unread = try Fleet.file(Fleet.receipt(ada, sequence: 3), by: ada)
        unread.contents = nil
        let other = Fleet.File(name: "note.txt", day: ReceiptDay(Fleet.now), contents: [])
        let report = try Fleet.report([good, forged, cut, unread, other], inventory: inventory)
        #expect(report.machines.map(\.states) == [[], [.absent]])
        #expect(
            report.rejected.map(\.problem)
                == [.receipt(.forged), .receipt(.forged), .receipt(.unread), .name] && report.rejectedCount == 4)
        #expect(report.junkCount == 3, "what could not be read may have been a receipt")
    }

    @Test("Whoever may write can fill a day with files, and each machine is judged as without them")
    func junk() throws {
        let good = try Fleet.file(Fleet.receipt(ada), by: ada)
        let other = try Fleet.file(Fleet.receipt(bob), by: bob)
        // Of the thief's own device, of devices that nobody knows, and of no device.
        var junk = (1...1_500).map { number in
            Fleet.File(
                name: ReceiptName(device: bob.id, time: Fleet.now, sequence: 100 + Int64(number)).path,
                day: ReceiptDay(Fleet.now), contents: nil)
        }
        for number in 1...1_500 {
            let stranger = try Fleet.device(10_000 + number).id
            junk.append(
                Fleet.File(
                    name: ReceiptName(device: stranger, time: Fleet.now, sequence: 1).path, day: ReceiptDay(Fleet.now),
                    contents: nil))
            junk.append(Fleet.File(name: "AA/\(number)", day: ReceiptDay(Fleet.now), contents: nil))
        }
        let report = try Fleet.report([other] + junk + [good], inventory: inventory)
        #expect(report.machines.map(\.states) == [[], []])
        #expect(report.rejectedCount == 4_500 && report.rejected.count == 1_000)
        // A file over the limit of a machine may be its own receipt, and so may one that was not read.
        #expect(report.junkCount == 1_500 + 500)
    }

    @Test("A receipt in the folder of another device's receipts is none")
    func otherShard() throws {
        var file = try Fleet.file(Fleet.receipt(ada), by: ada)
        for path in ["ZZ/\(Fleet.receipt(ada).name)", "\(Fleet.receipt(ada).name)", "x/\(file.name)", "/\(file.name)"] {
            file.name = path
            let report = try Fleet.report([file], inventory: inventory)
            #expect(report.rejected.map(\.problem) == [.name] && report.machines[0].states == [.absent], "\(path)")
        }
    }

    @Test("An ID is a hash of the key, so the inventory says whom to believe; a list of signers says it alone")
    func trust() throws {
        let files = [try Fleet.file(Fleet.receipt(ada), by: ada), try Fleet.file(Fleet.receipt(bob), by: bob)]
        func states(_ inventory: String?, _ signers: String?, _ trusted: [DeviceID: String] = [:]) throws
            -> [DeviceID: [FleetReport.State]]
        {
            let report = try Fleet.report(files, inventory: inventory, signers: signers, trusted: trusted)
            return Dictionary(uniqueKeysWithValues: report.machines.map { ($0.device, $0.states) })
        }
        #expect(try states(nil, nil) == [ada.id: [.unknown], bob.id: [.unknown]])
        #expect(try states(inventory, nil) == [ada.id: [], bob.id: []])
        #expect(try states(nil, nil, [ada.id: "ada"]) == [ada.id: [], bob.id: [.unknown]])
        #expect(try states(inventory, ada.allowedSignersLine) == [ada.id: [], bob.id: [.unknown]])
        #expect(
            try states(nil, ada.allowedSignersLine, [bob.id: "bob"]) == [ada.id: [], bob.id: [.unknown]])
    }

    @Test("A thousand machines are counted, and each is in the state that it is in")
    func manyMachines() throws {
        var inventory = ""
        var files: [Fleet.File] = []
        for number in 0..<1_000 {
            let key = try Fleet.device(number + 1_000)
            inventory += "\(key.id) host-\(number)\n"
            if number % 100 == 7 { continue }
            let hours: Int64 = number % 100 == 8 ? 40 : 5
            let good = Fleet.now.advanced(byMicroseconds: -6 * 3_600_000_000)
            var file = try Fleet.file(
                Fleet.receipt(key, hoursAgo: hours, result: number % 100 == 9 ? 3 : 0, good: good), by: key)
            if number % 100 == 10 { file.contents?[60] ^= 4 }
            files.append(file)
        }
        let report = try Fleet.report(files, inventory: inventory)
        #expect(report.machines.count == 1_000 && report.goodCount == 960)
        #expect(report.count(.absent) == 20 && report.count(.late) == 10 && report.count(.failed) == 10)
        #expect(report.rejectedCount == 10)
    }
}
