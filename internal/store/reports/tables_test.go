package reports

import "testing"

func TestEveryFormatHasAMediaType(t *testing.T) {
	t.Parallel()
	for _, f := range ReportFormats {
		if f.MediaType() == "" {
			t.Errorf("%s has no media type", f)
		}
	}
}
