package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// HTTP is a request to an account's own service.
type HTTP struct {
	Method string `json:"method"` // GET, POST, PUT, PATCH or DELETE
	// URL is absolute. {name} in its path and query stands for an argument, which is
	// escaped.
	URL string `json:"url"`
	// Headers and the values of Query may hold {{secret.NAME}}; those of Query {name}
	// too, and one that is just the name of an argument that is not there is left out.
	Headers map[string]string `json:"headers"`
	Query   map[string]string `json:"query"`
	// Body is the JSON to send; a text in it that is just {name} stands for the
	// argument as it is. Without it all arguments are sent, as a JSON object, except
	// by GET and DELETE.
	Body      json.RawMessage `json:"body"`
	TimeoutMS int             `json:"timeout_ms"` // 100 to 30,000; 0: 8,000
	// Retries is how often the request is repeated when the service cannot be reached
	// or is busy, 0 to 2. What is no GET, PUT or DELETE needs IdempotencyHeader then.
	Retries int `json:"retries"`
	// IdempotencyHeader is a header that carries a value of its own for each function
	// call, the same in its repetitions.
	IdempotencyHeader string `json:"idempotency_header"`

	schema *jsonschema.Resolved
}

// Bounds of a request.
const (
	defaultTimeout = 8 * time.Second
	maxTimeout     = 30 * time.Second
	minTimeout     = 100 * time.Millisecond
	maxRetries     = 2
	maxURL         = 2000 // bytes
	maxHeaders     = 32
	maxValue       = 4 << 10  // bytes of a header or a value of the query
	maxBody        = 64 << 10 // bytes of a template
)

var (
	placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]{0,63})\}`)
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$") // a token (RFC 9110, section 5.6.2)
	methods     = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	idempotent  = []string{http.MethodGet, http.MethodPut, http.MethodDelete}
	// ours are the headers that make a message (RFC 9110, section 7.6.1).
	ours = []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization"}
)

// check says what is wrong with the request of a function whose arguments obey
// schema, and keeps that.
func (h *HTTP) check(path string, schema *jsonschema.Resolved) error {
	if !slices.Contains(methods, h.Method) {
		return fault(path+".method", "must be one of %s", strings.Join(methods, ", "))
	}
	if err := h.checkURL(path + ".url"); err != nil {
		return err
	}
	if err := checkHeaders(path+".headers", h.Headers); err != nil {
		return err
	}
	if len(h.Query) > maxHeaders {
		return fault(path+".query", "more than %d", maxHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Query)) {
		if err := checkReferences(path+".query."+name, h.Query[name]); err != nil {
			return err
		}
		if len(h.Query[name]) > maxValue {
			return fault(path+".query."+name, "more than %d bytes", maxValue)
		}
	}
	if len(h.Body) > maxBody {
		return fault(path+".body", "more than %d bytes", maxBody)
	}
	if len(h.Body) > 0 && h.Method == http.MethodGet {
		return fault(path+".body", "a GET has none")
	}
	if err := checkTimeout(path, h.TimeoutMS); err != nil {
		return err
	}
	if h.Retries < 0 || h.Retries > maxRetries {
		return fault(path+".retries", "must be from 0 to %d", maxRetries)
	}
	if n := h.IdempotencyHeader; n != "" && (!headerName.MatchString(n) || slices.Contains(ours, textproto.CanonicalMIMEHeaderKey(n))) {
		return fault(path+".idempotency_header", "%q cannot be set", n)
	}
	if h.Retries > 0 && !slices.Contains(idempotent, h.Method) && h.IdempotencyHeader == "" {
		return fault(path+".retries", "repeating a %s needs idempotency_header, by which the service knows the repetition", h.Method)
	}
	h.schema = schema
	return h.checkPlaceholders(path)
}

func (h *HTTP) checkURL(path string) error {
	if err := checkURL(path, h.URL); err != nil {
		return err
	}
	authority, _, _ := strings.Cut(strings.SplitN(h.URL, "://", 2)[1], "/")
	authority, _, _ = strings.Cut(authority, "?")
	if strings.ContainsAny(authority, "{}") {
		return fault(path, "the host cannot be an argument")
	}
	return nil
}

// checkURL refuses what is no address of a service.
func checkURL(path, text string) error {
	if len(text) > maxURL {
		return fault(path, "more than %d bytes", maxURL)
	}
	if strings.Contains(text, "{{") {
		return fault(path, "secrets do not belong into addresses, which are logged; put them into headers")
	}
	u, err := url.Parse(placeholder.ReplaceAllString(text, "x"))
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return fault(path, "must be an absolute https address")
	case u.User != nil:
		return fault(path, "credentials do not belong into addresses, which are logged; put them into headers")
	case u.Fragment != "":
		return fault(path, "has a fragment, which is not sent")
	}
	return nil
}

func checkHeaders(path string, headers map[string]string) error {
	if len(headers) > maxHeaders {
		return fault(path, "more than %d", maxHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		switch value := headers[name]; {
		case !headerName.MatchString(name) || slices.Contains(ours, textproto.CanonicalMIMEHeaderKey(name)):
			return fault(path, "%q cannot be set", Clip(name, 64))
		case len(value) > maxValue || strings.ContainsAny(value, "\r\n\x00"):
			return fault(path+"."+name, "must be one line of at most %d bytes", maxValue)
		}
		if err := checkReferences(path+"."+name, headers[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkTimeout(path string, ms int) error {
	if d := time.Duration(ms) * time.Millisecond; ms != 0 && (d < minTimeout || d > maxTimeout) {
		return fault(path+".timeout_ms", "must be from %d to %d", minTimeout.Milliseconds(), maxTimeout.Milliseconds())
	}
	return nil
}

// checkPlaceholders wants each {name} to be a parameter.
func (h *HTTP) checkPlaceholders(path string) error {
	known := h.schema.Schema().Properties
	texts := []struct{ path, text string }{{"url", h.URL}}
	for _, name := range slices.Sorted(maps.Keys(h.Query)) {
		texts = append(texts, struct{ path, text string }{"query." + name, reference.ReplaceAllString(h.Query[name], "")})
	}
	if len(h.Body) > 0 {
		if strings.Contains(string(h.Body), "{{secret") {
			return fault(path+".body", "secrets belong into headers")
		}
		texts = append(texts, struct{ path, text string }{"body", string(h.Body)})
	}
	for _, t := range texts {
		for _, m := range placeholder.FindAllStringSubmatch(t.text, -1) {
			if known[m[1]] == nil {
				return fault(path+"."+t.path, "{%s} is no parameter", m[1])
			}
		}
	}
	return nil
}

// timeout is a setting in milliseconds, or the usual.
func timeout(ms int) time.Duration {
	if ms == 0 {
		return defaultTimeout
	}
	return time.Duration(ms) * time.Millisecond
}

// address puts arguments into the URL and the query.
func (h *HTTP) address(args map[string]any, secrets map[string]string) (string, error) {
	path, query, _ := strings.Cut(h.URL, "?")
	var err error
	path = placeholder.ReplaceAllStringFunc(path, func(p string) string {
		v, ok := args[p[1:len(p)-1]]
		if !ok || text(v) == "" {
			err = fmt.Errorf("the argument %s is needed", p[1:len(p)-1])
		}
		return url.PathEscape(text(v))
	})
	if err != nil {
		return "", err
	}
	query = placeholder.ReplaceAllStringFunc(query, func(p string) string { return url.QueryEscape(text(args[p[1:len(p)-1]])) })
	u, err := url.Parse(path)
	if err != nil {
		return "", fmt.Errorf("the arguments make no address")
	}
	// An argument must not lead out of the path that it is a part of.
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return "", fmt.Errorf("an argument cannot be %q in an address", part)
		}
	}
	u.RawQuery = query
	more := url.Values{}
	for name, value := range h.Query {
		if m := placeholder.FindString(value); m == value && m != "" && args[m[1:len(m)-1]] == nil {
			continue
		}
		// Secrets last: an argument that looks like a reference is only text.
		var parts strings.Builder
		rest := value
		for _, at := range reference.FindAllStringIndex(value, -1) {
			cut := len(value) - len(rest)
			parts.WriteString(fill(value[cut:at[0]], args))
			secret, err := expand(value[at[0]:at[1]], secrets)
			if err != nil {
				return "", err
			}
			parts.WriteString(secret)
			rest = value[at[1]:]
		}
		parts.WriteString(fill(rest, args))
		more.Set(name, parts.String())
	}
	if len(more) > 0 {
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&"+more.Encode(), "&")
	}
	return u.String(), nil
}

// fill puts arguments into a text, as they are.
func fill(s string, args map[string]any) string {
	return placeholder.ReplaceAllStringFunc(s, func(p string) string { return text(args[p[1:len(p)-1]]) })
}

// text is an argument where text is wanted: JSON, except that strings have no quotes
// and what is not there is empty.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// body is the JSON to send; nil: none.
func (h *HTTP) body(args map[string]any) ([]byte, error) {
	if len(h.Body) == 0 {
		if h.Method == http.MethodGet || h.Method == http.MethodDelete {
			return nil, nil
		}
		return json.Marshal(args)
	}
	var template any
	if err := json.Unmarshal(h.Body, &template); err != nil {
		return nil, err
	}
	out, _ := filled(template, args)
	return json.Marshal(out)
}

// filled is a template with arguments in it. A text that is one argument becomes
// that; where there is none it is left out of objects and lists, which is false.
func filled(template any, args map[string]any) (out any, there bool) {
	switch t := template.(type) {
	case string:
		if m := placeholder.FindString(t); m == t && m != "" {
			v, ok := args[m[1:len(m)-1]]
			return v, ok
		}
		return fill(t, args), true
	case map[string]any:
		object := make(map[string]any, len(t))
		for k, v := range t {
			if f, ok := filled(v, args); ok {
				object[k] = f
			}
		}
		return object, true
	case []any:
		list := make([]any, 0, len(t))
		for _, v := range t {
			if f, ok := filled(v, args); ok {
				list = append(list, f)
			}
		}
		return list, true
	}
	return template, true
}
