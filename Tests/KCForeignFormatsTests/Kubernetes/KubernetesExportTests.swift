import Foundation
import KCByteStreams
import KCExportFormats
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Exporting Secrets of Kubernetes", .waitsForPrograms)
struct KubernetesExportTests {
    private func text(_ writer: KubernetesWriter) throws -> String {
        var file: [UInt8] = []
        try writer.finish { file.append($0) }
        return String(decoding: file, as: UTF8.self)
    }

    private func export(
        _ contents: some ItemSource, _ form: KubernetesWriter.Form
    ) throws -> (text: String, export: ItemExport, writer: KubernetesWriter) {
        let writer = KubernetesWriter(form)
        var export = ItemExport(to: writer, filter: nil, spoolingIn: "/nowhere")
        try contents.visitItems(&export)
        return (try text(writer), export, writer)
    }

    @Test("An export in YAML that ends early is refused, wherever it ends")
    func endsEarly() throws {
        let contents = try ForeignReading.read(KubernetesSample.list, as: KubernetesFormat())
        let text = Array(try export(contents.items, .yaml).text.utf8)
        // The last byte is a line feed.
        for count in 0..<text.count - 1 {
            #expect(throws: ForeignFailure.self, "\(count) bytes") {
                try ForeignReading.read(Array(text.prefix(count)), as: KubernetesFormat())
            }
        }
    }

    private static let withoutAnnotation =
        "the Secret 'shop/db' lacks labels or annotations that the import left out, since the secret was in them or they "
        + "were too large"

    @Test("What came from Kubernetes goes back as it was: names, types, labels, annotations, and data byte for byte")
    func roundTrip() throws {
        for source in [KubernetesSample.list, KubernetesSample.yaml] {
            let contents = try ForeignReading.read(source, as: KubernetesFormat())
            for form in [KubernetesWriter.Form.json, .yaml] {
                let (text, export, writer) = try export(contents.items, form)
                #expect(export.isComplete)
                #expect(writer.remarks == (source == KubernetesSample.list ? [Self.withoutAnnotation] : []))
                let again = try ForeignReading.read(text, as: KubernetesFormat())
                #expect(again.refused == [])
                #expect(again.leftOut.isEmpty)
                let (before, after) = (try contents.entries, try again.entries)
                #expect(before.map(\.secret) == after.map(\.secret))
                #expect(before.map(\.item.uuid) == after.map(\.item.uuid))
                let kept = before.map { $0.item.extra.filter { $0.name != "kubernetes.partial" } }
                #expect(kept == after.map(\.item.extra))
                #expect(before.map { $0.item.attributes.text(.svce) } == after.map { $0.item.attributes.text(.svce) })
                #expect(try self.export(again.items, form).text == text)
            }
        }
    }

    @Test("A Secret of which a filter leaves out a value is named, since a cluster would lose it")
    func partial() throws {
        let contents = try ForeignReading.read(KubernetesSample.list, as: KubernetesFormat())
        for (text, remarks) in [("password", 2), ("shop", 1), ("username", 2)] {
            let writer = KubernetesWriter(.json)
            var filter = ItemFilter()
            filter.text = text
            var export = ItemExport(to: writer, filter: filter, spoolingIn: "/nowhere")
            try contents.items.visitItems(&export)
            #expect(writer.remarks.count == remarks, "\(text): \(writer.remarks)")
            #expect(writer.remarks.last == Self.withoutAnnotation)
            if remarks > 1 {
                #expect(writer.remarks[0].hasPrefix("the Secret 'shop/db' lacks values that it has here"))
            }
        }
    }

    @Test("What a cluster sets itself is not in the file")
    func dropped() throws {
        let contents = try ForeignReading.read(KubernetesSample.list, as: KubernetesFormat())
        let (text, _, _) = try export(contents.items, .json)
        for member in [
            "uid", "resourceVersion", "managedFields", "ownerReferences", "creationTimestamp", "last-applied",
        ] {
            #expect(!text.contains(member), "\(member)")
        }
    }

    @Test("Other items become Secrets with names and keys that Kubernetes allows")
    func others() throws {
        let (text, export, _) = try export(try ExportSample.items(ExportSample.lines), .yaml)
        let unheld = try export.lists().unheldItems().map { (ExportedRecord($0.item).title, $0.problem) }
        #expect(
            Dictionary(uniqueKeysWithValues: unheld) == ["Key": .noPlace, "None": .nameNotText])
        let again = try ForeignReading.read(text, as: KubernetesFormat())
        #expect(again.refused == [])
        let listing = try again.listing
        #expect(
            listing.contains(
                "genp svce=kubernetes/home-wi-fi-0000000000000001 acct=username desc=Kubernetes Secret: ada"),
            "\(listing)")
        #expect(listing.contains { $0.contains("acct=otpauth") && $0.contains("JBSWY3DPEHPK3PXP") })
        #expect(listing.contains { $0.hasSuffix("acct=note desc=Kubernetes Secret: line1\nline2") })
    }

    @Test("An item that would make a Secret invalid is named and left out")
    func invalid() throws {
        func line(_ service: String, _ account: String, _ secret: String = "v") -> String {
            #"{"class":"genp","attributes":{"svce":"\#(service)","acct":"\#(account)"},"secret":"\#(secret)"}"#
        }
        let half = String(repeating: "x", count: 600_000)
        let lines = [
            line("kubernetes/n/a", "a key"), line("kubernetes/n/b", "one", half), line("kubernetes/n/b", "two", half),
            line("kubernetes/n/c", "one"),
            #"{"class":"genp","attributes":{"svce":"kubernetes/n/c","acct":"one","agrp":"other"},"secret":"v"}"#,
        ]
        let (_, export, _) = try export(try ExportSample.items(lines.joined(separator: "\n")), .json)
        let problems = try export.lists().unheldItems().map { "\($0.item.attributes.text(.svce) ?? ""): \($0.problem)" }
            .sorted()
        #expect(problems == ["kubernetes/n/a: noName", "kubernetes/n/b: tooLarge", "kubernetes/n/c: sameName"])
    }

    @Test(
        "A Secret of which an import kept an older value has all values, the newest labels and type, and a warning",
        arguments: [1, 2])
    func differing(_ newest: Int) throws {
        func line(_ number: Int, _ key: String) -> String {
            let (day, type) = number == newest ? (2, "new") : (1, "old")
            return #"{"class":"genp","uuid":"00000000-0000-4000-8000-00000000000\#(number)","#
                + #""attributes":{"svce":"kubernetes/shop/db","acct":"\#(key)","mdat":"2026-03-0\#(day)T00:00:00.000000Z"},"#
                + #""extra":{"kubernetes.label.\#(type)":"x","kubernetes.type":"\#(type)"},"secret":"v"}"#
        }
        let items = try ExportSample.items(line(1, "password") + "\n" + line(2, "username"))
        for form in [KubernetesWriter.Form.json, .yaml] {
            let (text, export, writer) = try export(items, form)
            #expect(export.isComplete)
            try #require(writer.remarks.count == 1)
            #expect(writer.remarks[0].hasPrefix("values of the Secret 'shop/db' differ here in type, labels"))
            let entries = try ForeignReading.read(text, as: KubernetesFormat()).entries
            #expect(entries.compactMap { $0.item.attributes.text(.acct) }.sorted() == ["password", "username"])
            for (item, _) in entries {
                #expect(item.extraValue("kubernetes.type") == "new")
                #expect(item.extraValue("kubernetes.label.new") == "x")
                #expect(item.extraValue("kubernetes.label.old") == nil)
            }
        }
    }

    @Test("An item keeps its name in every export, and takes none that another Secret has")
    func names() throws {
        let lines = ExportSample.lines.split(separator: "\n").map { String($0) }
        let (text, _, _) = try export(try ExportSample.items(lines[0]), .json)
        #expect(
            try export(try ExportSample.items(ExportSample.lines), .json).text.contains("home-wi-fi-0000000000000001"))
        // An item that was exported and imported again stands beside the one that it was made of.
        let again = try ForeignReading.read(text, as: KubernetesFormat()).items
        let writer = KubernetesWriter(.json)
        var export = ItemExport(to: writer, filter: nil, spoolingIn: "/nowhere")
        try again.visitItems(&export)
        try ExportSample.items(lines[0]).visitItems(&export)
        #expect(try export.lists().unheldItems().map(\.problem) == [.sameName])
        #expect(try self.text(writer) == text)
        let reversed = KubernetesWriter(.json)
        var other = ItemExport(to: reversed, filter: nil, spoolingIn: "/nowhere")
        try ExportSample.items(lines[0]).visitItems(&other)
        try again.visitItems(&other)
        #expect(try other.lists().unheldItems().map(\.problem) == [.sameName, .sameName])
        #expect(reversed.remarks == [])
    }

    /// A program that judges objects by the schema of Kubernetes' API.
    private static let judge = ExternalProgram.python(with: "kubernetes_validate")
    /// Puts the objects of each List, which the judge does not know, into the file itself.
    private static let unlisting = """
        import sys, yaml
        objects = [
            one for read in yaml.safe_load_all(open(sys.argv[1])) for one in (read["items"] if read["kind"] == "List" else [read])]
        yaml.safe_dump_all(objects, open(sys.argv[1], "w"))
        """

    @Test("The schema of Kubernetes accepts every Secret", .enabled(if: judge != nil, "'make judges' installs it"))
    func judged() throws {
        let folder = try TemporaryFolder()
        let contents = try ForeignReading.read(KubernetesSample.list, as: KubernetesFormat())
        let (imported, _, _) = try export(contents.items, .yaml)
        let (others, _, _) = try export(try ExportSample.items(ExportSample.lines), .yaml)
        let judge = try #require(Self.judge)
        func judged(_ text: String) throws -> ExternalProgram.Outcome {
            let path = try folder.write("out.yaml", Array(text.utf8))
            try #require(ExternalProgram.run(judge, ["-c", Self.unlisting, path]).status == 0)
            return try ExternalProgram.run(judge, ["-m", "kubernetes_validate", "--strict", path])
        }
        let outcome = try judged(imported + "---\n" + others)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errorText)")
        #expect(outcome.text.matches(of: /passed for resource secret/).count == 10, "\(outcome.text)")
        #expect(try judged(imported.replacing("immutable: true", with: "immutable: 7")).status != 0)
    }

    @Test("A Secret without a key that its type asks for is named")
    func incomplete() throws {
        let text =
            #"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"type":"kubernetes.io/tls","data":{"tls.crt":"dg=="}}"#
        let contents = try ForeignReading.read(text, as: KubernetesFormat())
        let (_, _, writer) = try export(contents.items, .json)
        #expect(writer.remarks == ["Kubernetes refuses the Secret 'a', whose type asks for the key tls.key"])
    }
}
