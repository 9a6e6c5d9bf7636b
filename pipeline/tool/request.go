package tool

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of an answer and of waiting to ask again.
const (
	maxAnswer    = 1 << 20 // bytes read of it
	maxComplaint = 2 << 10 // bytes of an error's answer that the model reads
	firstWait    = 200 * time.Millisecond
	maxWait      = 5 * time.Second // longer ones, which a service may ask for, are not waited for
)

// requester makes the requests of one HTTP function.
type requester struct {
	h       *HTTP
	client  *http.Client
	secrets map[string]string
}

func (q *requester) run(ctx context.Context, raw json.RawMessage) (string, error) {
	if _, err := arguments(raw, q.h.schema); err != nil {
		return "", err
	}
	// Once more, for filling in: numbers as they were written.
	args := map[string]any{}
	if d := json.NewDecoder(bytes.NewReader(raw)); len(bytes.TrimSpace(raw)) > 0 {
		d.UseNumber()
		if err := d.Decode(&args); err != nil {
			return "", errors.New("the arguments are not a JSON object")
		}
	}
	address, err := q.h.address(args, q.secrets)
	if err != nil {
		return "", err
	}
	body, err := q.h.body(args)
	if err != nil {
		return "", errors.New("the arguments make no request")
	}
	headers, err := expandAll(q.h.Headers, q.secrets)
	if err != nil {
		return "", err
	}
	if q.h.IdempotencyHeader != "" {
		headers[q.h.IdempotencyHeader] = rand.Text()
	}
	for try := 0; ; try++ {
		result, again, err := q.once(ctx, address, headers, body)
		if again < 0 || try == q.h.Retries || !pause(ctx, try, again) {
			return scrub(result, q.secrets), scrubbed(err, q.secrets)
		}
	}
}

// scrubbed is an error without the secrets that a service repeated.
func scrubbed(err error, secrets map[string]string) error {
	if err == nil {
		return nil
	}
	return errors.New(scrub(err.Error(), secrets))
}

// pause waits before a repetition, at least asked, with jitter, and says whether
// there is time for that.
func pause(ctx context.Context, try int, asked time.Duration) bool {
	wait := max(asked, time.Duration(float64(firstWait<<try)*(0.5+mrand.Float64())))
	if end, ok := ctx.Deadline(); wait > maxWait || ok && time.Until(end) <= wait {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// final says that a request is not to be repeated.
const final = time.Duration(-1)

// once makes one request. again is how long to wait before another, or final.
func (q *requester) once(ctx context.Context, address string, headers map[string]string, body []byte) (result string, again time.Duration, err error) {
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, q.h.Method, address, content)
	if err != nil {
		return "", final, errors.New("the arguments make no address")
	}
	r.Header.Set("Accept", "application/json, text/*;q=0.9")
	r.Header.Set("User-Agent", "Parley")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := q.client.Do(r)
	if err != nil {
		_, refused := errors.AsType[*Refused](err)
		if refused || ctx.Err() != nil {
			return "", final, explain(ctx, err)
		}
		return "", 0, explain(ctx, err)
	}
	defer res.Body.Close()
	result, err = readable(res)
	if err != nil && ctx.Err() != nil {
		err = explain(ctx, err)
	}
	if busy := []int{429, 502, 503, 504}; slices.Contains(busy, res.StatusCode) {
		return result, retryAfter(res), err
	}
	return result, final, err
}

// retryAfter reads the seconds that a service asks for (RFC 9110, section 10.2.3).
func retryAfter(res *http.Response) time.Duration {
	n, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}

// answer is what the model reads of a service's answer.
type answer struct {
	Status    int  `json:"status"`
	Body      any  `json:"body,omitempty"`
	Truncated bool `json:"truncated,omitempty"` // there was more than it may read
}

// readable turns a service's answer into what the model reads. Statuses other than
// 2xx are errors, with what the service says about them.
func readable(res *http.Response) (string, error) {
	content, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return "", errors.New("the service's answer broke off")
	}
	over := len(content) > maxAnswer
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json")
	body := bytes.TrimSpace(content)
	good := res.StatusCode/100 == 2
	if len(body) > 0 && !isJSON && !isText(kind, body) {
		if good {
			return "", fmt.Errorf("the service answered with what is no text (%s)", Clip(kind, 80))
		}
		body = nil
	}
	if !good {
		text := strings.Join(strings.Fields(strings.ToValidUTF8(string(body), "")), " ")
		return "", fmt.Errorf("the service answered with status %d %s", res.StatusCode, Clip(text, maxComplaint))
	}
	return written(answer{Status: res.StatusCode}, body, over)
}

// isText says whether a body can be read, by what it says it is, or by its bytes.
func isText(kind string, body []byte) bool {
	switch {
	case strings.HasPrefix(kind, "text/"), kind == "application/xml", strings.HasSuffix(kind, "+xml"), kind == "application/x-www-form-urlencoded", kind == "":
		return bytes.IndexByte(body, 0) < 0 && (kind != "" || utf8.Valid(body))
	}
	return false
}

// written writes an answer in at most MaxResult bytes.
func written(a answer, body []byte, over bool) (string, error) {
	var compact bytes.Buffer
	if !over && len(body) > 0 && json.Compact(&compact, body) == nil && compact.Len() <= MaxResult-100 {
		a.Body = json.RawMessage(compact.Bytes())
	} else if len(body) > 0 {
		if compact.Len() > 0 {
			body = compact.Bytes()
		}
		// Escapes may double a text, so it is shortened until it fits.
		text := strings.ToValidUTF8(string(body), "\ufffd")
		for size := MaxResult - 100; ; size = size * 3 / 4 {
			a.Body, a.Truncated = Clip(text, size), over || len(text) > size
			if b, err := plainJSON(a); err != nil || len(b) <= MaxResult {
				return string(b), err
			}
		}
	}
	b, err := plainJSON(a)
	return string(b), err
}

// plainJSON writes JSON without the escapes that are for HTML.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
