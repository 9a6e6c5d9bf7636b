package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Fetcher requests addresses that accounts wrote, where a guard lets it. It is safe for use from several goroutines.
type Fetcher struct{ client *http.Client }

// fetchTime is for all of a request, from the name to the last byte: 20 MB at 3 Mbit/s.
const fetchTime = time.Minute

// Fetcher returns what fetches pages and files: it follows redirects, each judged like the first address.
func (g *Guard) Fetcher() *Fetcher { return &Fetcher{g.Client()} }

// Fetch requests an address, and returns the body of its answer, of most bytes, with its media type. What is larger is
// an error, as is a status other than 2xx. The error may be shown to the author of the address.
func (f *Fetcher) Fetch(ctx context.Context, address string, most int64) (body []byte, mediaType string, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", errors.New("the address cannot be requested") // its text holds the address
	}
	r.Header.Set("Accept", "text/html, application/pdf, text/*;q=0.9, */*;q=0.5")
	r.Header.Set("User-Agent", "Parley")
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, "", explain(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, "", fmt.Errorf("it answers with status %d", answer.StatusCode)
	}
	tooLarge := fmt.Errorf("it is larger than %d MB", most>>20)
	if answer.ContentLength > most {
		return nil, "", tooLarge
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, "", explain(ctx, err)
	case err != nil:
		return nil, "", errors.New("the answer broke off")
	case int64(len(body)) > most:
		return nil, "", tooLarge
	}
	return body, answer.Header.Get("Content-Type"), nil
}
