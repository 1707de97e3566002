package grid

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// The parts of an XLSX file that describe the others.

const (
	header   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	packages = "http://schemas.openxmlformats.org/package/2006"
	office   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	sheetML  = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	sheetApp = "application/vnd.openxmlformats-officedocument.spreadsheetml"

	rootRelations = `<Relationships xmlns="` + packages + `/relationships">` +
		`<Relationship Id="rId1" Type="` + office + `/officeDocument" Target="xl/workbook.xml"/>` +
		`<Relationship Id="rId2" Type="` + packages + `/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>`

	// styles has the formats referenced by sheet.go: normal, bold, date, time.
	styles = `<styleSheet xmlns="` + sheetML + `"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/>` +
		`<numFmt numFmtId="165" formatCode="yyyy\-mm\-dd\ hh:mm:ss"/></numFmts>` +
		`<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
		`<cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
		`<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>` +
		`<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>` +
		`<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`
)

func contentTypes(sheets int) string {
	var b strings.Builder
	b.WriteString(`<Types xmlns="` + packages + `/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + sheetApp + `.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + sheetApp + `.styles+xml"/>`)
	for i := range sheets {
		fmt.Fprintf(&b, `<Override PartName="/xl/worksheets/sheet%d.xml" ContentType="`+sheetApp+`.worksheet+xml"/>`, i+1)
	}
	b.WriteString(`</Types>`)
	return b.String()
}

func properties(book Book) string {
	at := book.Created.UTC().Format(time.RFC3339)
	var title bytes.Buffer
	_ = xml.EscapeText(&title, []byte(book.Title)) // a buffer never fails; cell escapes do not apply here
	return `<cp:coreProperties xmlns:cp="` + packages + `/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" ` +
		`xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><dc:title>` +
		title.String() + `</dc:title><dc:creator>Anodyne</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">` + at +
		`</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">` + at + `</dcterms:modified></cp:coreProperties>`
}

func workbook(tables []Table) string {
	var b strings.Builder
	b.WriteString(`<workbook xmlns="` + sheetML + `" xmlns:r="` + office + `"><sheets>`)
	for i, t := range tables {
		fmt.Fprintf(&b, `<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, appendText(nil, t.Name), i+1, i+1)
	}
	b.WriteString(`</sheets></workbook>`)
	return b.String()
}

func workbookRelations(sheets int) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="` + packages + `/relationships">`)
	for i := range sheets {
		fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="`+office+`/worksheet" Target="worksheets/sheet%d.xml"/>`, i+1, i+1)
	}
	fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="`+office+`/styles" Target="styles.xml"/></Relationships>`, sheets+1)
	return b.String()
}
