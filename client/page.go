package client

import (
	"iter"
	"net/url"
	"strconv"
)

// maxLimit is the most records a page can have.
const maxLimit = 100

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination says where a page stands. Total counts all matching records.
type Pagination struct {
	Page  int `json:"page"`
	Limit int `json:"limit"`
	Total int `json:"total"`
}

// CursorPage is one stretch of a log. NextCursor continues behind it.
type CursorPage[T any] struct {
	Data       []T    `json:"data"`
	NextCursor string `json:"next_cursor"`
}

// walkPages yields the records of all pages from the first on. It ends after an
// error, and at the total that the last page read has told.
func walkPages[T any](first int, fetch func(page int) (*Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for number := first; ; number++ {
			page, err := fetch(number)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, record := range page.Data {
				if !yield(record, nil) {
					return
				}
			}
			if len(page.Data) == 0 || number*page.Pagination.Limit >= page.Pagination.Total {
				return
			}
		}
	}
}

// setNumber adds a parameter, unless it is left to the service. Numbers out of
// range are sent: the service judges them, and says so.
func setNumber(q url.Values, name string, n int) {
	if n != 0 {
		q.Set(name, strconv.Itoa(n))
	}
}
