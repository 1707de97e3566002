package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"anodyne.example/anodyne/internal/audit"
	"anodyne.example/anodyne/internal/id"
	"anodyne.example/anodyne/internal/store/journal"
	"anodyne.example/anodyne/internal/store/patients"
)

// maxFeedLimit is the highest limit of the feed. It is read by programs that
// want all of it.
const maxFeedLimit = 1000

// listClinicalChanges returns a page of the feed of all records of the
// organisation.
func (a *API) listClinicalChanges(x *exchange) (answer, error) {
	q := x.readQuery("after", "limit", "data_type")
	at := q.cursor("after", feedCursor, 2, 3)
	wanted := patients.FeedQuery{
		From:  patients.FeedCursor{Pos: journal.Pos(at[0]), Skip: int(at[1]), Life: at[2]},
		Types: q.dataTypes("data_type"), Limit: int(q.number("limit", 1, maxFeedLimit, defaultLimit)),
	}
	if err := q.err(); err != nil {
		return answer{}, err
	}
	page, err := x.org.Feed(x.ctx(), wanted)
	problem := ""
	switch {
	case errors.Is(err, patients.ErrBeyondFeed):
		problem = "after is beyond the end of the feed. If the database was restored from an older backup, read the feed again from the start."
	case errors.Is(err, patients.ErrFeedRestarted):
		problem = "after was returned before the database was restored from a backup. Empty your copy and read the feed again from the start, without after."
	}
	if problem != "" {
		after, _ := q.text("after")
		q.fields.Add("after", clip(after), problem)
		err = q.err()
	}
	if err != nil {
		return answer{}, err
	}
	b := appendRecords(append(x.buf, `{"data":[`...), page.Records)
	b = appendIDs(append(b, `],"removed_patients":[`...), page.Removed)
	b = append(b, `],"has_more":`...)
	b = strconv.AppendBool(b, page.More)
	b = append(b, `,"next_cursor":"`...)
	b = append(b, makeFeedCursor(page.Next)...)
	x.buf = append(b, `"}`...)
	line := x.saw(audit.ClinicalList, "")
	line.Details = feedDetails(wanted, &page)
	return answer{status: http.StatusOK, body: x.buf, line: line}, nil
}

// makeFeedCursor returns a cursor. Only that of a database that was restored has
// the number of its life.
func makeFeedCursor(at patients.FeedCursor) string {
	numbers := []int64{int64(at.Pos), int64(at.Skip), at.Life}
	if at.Life == 0 {
		numbers = numbers[:2]
	}
	return makeCursor(feedCursor, numbers...)
}

func appendIDs[K id.Kind](b []byte, ids []id.ID[K]) []byte {
	for i := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(ids[i].Append(append(b, '"')), '"')
	}
	return b
}

// feedDetails returns the details of the audit entry of a page: how many
// records it had, and the positions of the journal between which they are
// named. These identify them, because the journal does not change.
func feedDetails(q patients.FeedQuery, page *patients.FeedPage) json.RawMessage {
	b := append(make([]byte, 0, 96), `{"count":`...)
	b = strconv.AppendInt(b, int64(len(page.Records)), 10)
	b = append(b, `,"from_position":`...)
	b = strconv.AppendInt(b, int64(q.From.Pos), 10)
	b = append(b, `,"to_position":`...)
	b = strconv.AppendInt(b, int64(page.Next.Pos), 10)
	if len(q.Types) > 0 {
		b = append(b, `,"data_types":[`...)
		for i, t := range q.Types {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), t.String()...), '"')
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
