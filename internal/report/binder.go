package report

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"slices"

	"codeberg.org/go-pdf/fpdf"
)

// binder holds completed pages and writes them to the file at the end. The PDF
// library would keep the content of all pages and create a compressor for
// each, which takes many times the size of the file.
type binder struct {
	kept     [][]byte // compressed content of each page
	buf      bytes.Buffer
	deflater *zlib.Writer
	inflater io.ReadCloser
}

// keep draws the next page. It uses the fonts of the document, which thereby
// records the glyphs used.
func (b *binder) keep(doc *fpdf.Fpdf, strokes []func(*fpdf.Fpdf)) error {
	var failed error
	page := doc.CreateTemplate(func(page *fpdf.Tpl) {
		for _, stroke := range strokes {
			stroke(&page.Fpdf)
		}
		failed = page.Error()
	})
	if failed != nil {
		return failed
	}
	body, err := b.deflate(page.Bytes())
	b.kept = append(b.kept, bytes.Clone(body))
	return err
}

// deflate returns bytes that are valid until the next call.
func (b *binder) deflate(body []byte) ([]byte, error) {
	b.buf.Reset()
	if b.deflater == nil {
		var err error
		if b.deflater, err = zlib.NewWriterLevel(&b.buf, zlib.BestSpeed); err != nil {
			return nil, err
		}
	}
	b.deflater.Reset(&b.buf)
	if _, err := b.deflater.Write(body); err != nil {
		return nil, err
	}
	err := b.deflater.Close()
	return b.buf.Bytes(), err
}

func (b *binder) inflate(into *bytes.Buffer, kept []byte) (err error) {
	if b.inflater == nil {
		b.inflater, err = zlib.NewReader(bytes.NewReader(kept))
	} else {
		err = b.inflater.(zlib.Resetter).Reset(bytes.NewReader(kept), nil)
	}
	if err == nil {
		_, err = into.ReadFrom(b.inflater)
	}
	return err
}

// bind writes a document with a page for each stored one, combining the
// content of both.
func (b *binder) bind(w io.Writer, doc *fpdf.Fpdf) error {
	doc.SetCompression(false)
	var file bytes.Buffer
	if err := doc.Output(&file); err != nil {
		return err
	}
	shell, err := readShell(file.Bytes())
	if err != nil {
		return err
	}
	out := counting{w: w}
	out.write(shell.header)
	offsets := make([]int, len(shell.objects))
	var body bytes.Buffer
	for _, number := range shell.order {
		offsets[number] = out.n
		object := shell.objects[number]
		// Page n is object 2n+1 and its content the next object; the library's
		// own links rely on that.
		if n := (number - 2) / 2; number%2 == 0 && n >= 1 && n <= len(b.kept) {
			body.Reset()
			if err := b.inflate(&body, b.kept[n-1]); err != nil {
				return err
			}
			if object, err = b.filled(number, &body, object); err != nil {
				return err
			}
		}
		out.write(object)
	}
	start := out.n
	out.write(fmt.Appendf(nil, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)))
	for _, offset := range offsets[1:] {
		out.write(fmt.Appendf(nil, "%010d 00000 n \n", offset))
	}
	out.write(shell.trailer)
	out.write(fmt.Appendf(nil, "startxref\n%d\n%%%%EOF\n", start))
	return out.err
}

// filled returns the object of a page's content: body plus its own content.
func (b *binder) filled(number int, body *bytes.Buffer, object []byte) ([]byte, error) {
	_, had, found := bytes.Cut(object, []byte(">>\nstream\n"))
	had, ended := bytes.CutSuffix(had, []byte("\nendstream\nendobj\n"))
	if !found || !ended {
		return nil, fmt.Errorf("object %d of the document is no page's content", number)
	}
	body.Write(had)
	data, err := b.deflate(body.Bytes())
	if err != nil {
		return nil, err
	}
	object = fmt.Appendf(nil, "%d 0 obj\n<</Filter /FlateDecode /Length %d>>\nstream\n", number, len(data))
	return slices.Concat(object, data, []byte("\nendstream\nendobj\n")), nil
}

// counting tracks its position in the file. After an error it writes nothing.
type counting struct {
	w   io.Writer
	n   int
	err error
}

func (c *counting) write(p []byte) {
	if c.err == nil {
		_, c.err = c.w.Write(p)
		c.n += len(p)
	}
}
