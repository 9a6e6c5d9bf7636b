// Package header is the text of SIP messages: what telephones and carriers say in headers and bodies, and what we write there. Who
// calls, by whom a call was sent on, why it has ended, how long its session lasts, whom a far end is to call in our place, the
// description that is the body. It knows no calls.
package header

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// Fields are what an INVITE says besides who calls whom. Its texts are a far end's: valid UTF-8 without
// control characters, and bounded. The slices and the map belong to the reader.
type Fields struct {
	// Custom are the X- headers, and User-to-User (RFC 7433), by their names as Canonical writes them: the first
	// MaxCustom of at most MaxName and MaxValue bytes, and maxTotal bytes of all; what is longer is left out. Values of one name are joined by a comma. User-to-User in hexadecimal that is text stands as this text.
	Custom map[string]string
	// Diversions say who had the call before (RFC 5806), the most recent first: 16 at most.
	Diversions []Diversion
	// History says where the call was before (RFC 7044), in the order of its indices: 16 entries at most.
	History []HistoryEntry
	// Attestation is how well the originating carrier knows the caller (ATIS-1000074): A, it knows the customer and
	// their number, B, it knows the customer, C, it knows neither; empty: the trunk does not say.
	Attestation string
	// OrigID identifies for that carrier where the call entered its network; empty: the trunk does not say.
	OrigID string
	// Withheld says that the caller's number is for us and not for those whom the call is passed on to (Privacy,
	// RFC 3323 section 4.2 and RFC 3325 section 9.3).
	Withheld bool
}

// Bounds of Custom; of names and values in bytes.
const (
	MaxCustom    = 20
	MaxName      = 64
	MaxValue     = 512
	maxTotal     = 4096
	maxRedirects = 16
)

// userToUser is the header of RFC 7433.
const userToUser = "User-to-User"

// Diversion is one telephone that has sent a call on (RFC 5806).
type Diversion struct {
	By     Identity // without a number, or a name, that it wants to keep private
	Reason string   // such as user-busy, no-answer, unconditional; empty: it does not say
}

// HistoryEntry is one place that a call was sent to (RFC 7044).
type HistoryEntry struct {
	Index string   // such as 1.2: the second place that 1 sent it to
	To    Identity // without a number and name that are private
	Cause int      // the code of SIP for which it was sent there, or went on from there, such as 302; 0: none is given
}

// DivertedBy is the number of the telephone that has sent the call on to called, by the most recent Diversion, else by
// History; empty: it has come directly, or nobody says.
func (f *Fields) DivertedBy(called string) string {
	if len(f.Diversions) > 0 {
		return f.Diversions[0].By.Number
	}
	for _, e := range slices.Backward(f.History) {
		if n := e.To.Number; n != "" && !sameNumber(n, called) {
			return n
		}
	}
	return ""
}

// FirstCalled is the number that the caller has dialled, where the call was sent on, by the oldest Diversion, else by
// History; empty as of DivertedBy.
func (f *Fields) FirstCalled(called string) string {
	if len(f.Diversions) > 0 {
		return f.Diversions[len(f.Diversions)-1].By.Number
	}
	if f.DivertedBy(called) == "" {
		return ""
	}
	return f.History[0].To.Number
}

// sameNumber compares two numbers of which one may be international and the other not.
func sameNumber(a, b string) bool {
	const local = 6 // digits that two numbers of different telephones do not share
	a, b = strings.TrimLeft(a, "+0"), strings.TrimLeft(b, "+0")
	return a == b || min(len(a), len(b)) >= local && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
}

// Read reads an INVITE. Headers of the names in ours are left out: they are what we send on the trunk, which may
// be secret.
func Read(req *gosip.Request, ours map[string]string, asserted Identity) Fields {
	f := Fields{Custom: custom(req.Headers(), ours)}
	for _, v := range values(req, "diversion") {
		if d, ok := parseDiversion(v); ok && len(f.Diversions) < maxRedirects {
			f.Diversions = append(f.Diversions, d)
		}
	}
	for _, v := range values(req, "history-info") {
		if e, ok := parseHistory(v); ok && len(f.History) < maxRedirects {
			f.History = append(f.History, e)
		}
	}
	slices.SortStableFunc(f.History, func(a, b HistoryEntry) int { return compareIndex(a.Index, b.Index) })
	f.Attestation = attestation(req, asserted)
	f.OrigID = cmp.Or(first(req, "p-origination-id"), first(req, "origination-id"))
	f.Withheld = withheld(req)
	return f
}

// withheld reads Privacy, whose values stand between semicolons.
func withheld(req *gosip.Request) bool {
	for _, h := range req.GetHeaders("privacy") {
		for v := range strings.SplitSeq(strings.ToLower(h.Value()), ";") {
			if v = strings.TrimSpace(v); v == "id" || v == "user" || v == "header" {
				return true
			}
		}
	}
	return false
}

// custom collects the headers of programs. A header that is too long is left out: half of it could mean something else.
func custom(headers []gosip.Header, ours map[string]string) map[string]string {
	fields, size := map[string]string{}, 0
	for _, h := range headers {
		name, ok := Canonical(h.Name())
		if !ok || isOurs(name, ours) || len(h.Value()) > 3*MaxValue {
			continue
		}
		value := clean(h.Value())
		if name == userToUser {
			value = clean(userText(h.Value()))
		}
		was, known := fields[name]
		if known {
			value = was + ", " + value
		}
		if !known && len(fields) == MaxCustom || len(value) > MaxValue || size+len(name)+len(value)-len(was) > maxTotal {
			continue
		}
		if !known {
			size += len(name)
		}
		size += len(value) - len(was)
		fields[name] = value
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// clean is a far end's text as printed has it, whatever its length.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s))
}

// userText is what User-to-User carries (RFC 7433 section 4.1): text where hexadecimal holds nothing else, with or
// without the octet before it that says so in ISDN (Q.931 section 4.5.30: 4 is characters of IA5, 0 is the user's own).
func userText(v string) string {
	v = strings.TrimSpace(v)
	data, params, _ := strings.Cut(v, ";")
	data = strings.TrimSpace(data)
	if strings.HasPrefix(v, `"`) {
		quoted := firstPart(v, ';')
		text := strings.TrimSuffix(strings.TrimSpace(quoted)[1:], `"`)
		data, params = unquote(text), v[len(quoted):]
	}
	if !strings.EqualFold(dialog.Param(params, "encoding"), "hex") {
		return data
	}
	octets, err := hex.DecodeString(data)
	if err != nil || len(octets) == 0 {
		return data
	}
	if octets[0] == 0 || octets[0] == 4 {
		octets = octets[1:]
	}
	text := string(octets)
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return data
	}
	return text
}

// firstPart is what stands before the first separator that is in no quotation marks.
func firstPart(s string, sep byte) string {
	for part := range split(s, sep) {
		return part
	}
	return ""
}

// values are those of a header, whether they stand in one or several.
func values(req *gosip.Request, name string) (all []string) {
	for _, h := range req.GetHeaders(name) {
		for v := range split(h.Value(), ',') {
			if len(all) == 2*maxRedirects {
				return all
			}
			if v = strings.TrimSpace(v); v != "" {
				all = append(all, v)
			}
		}
	}
	return all
}

// first is a header's value; empty: there is none.
func first(req *gosip.Request, name string) string {
	if h := req.GetHeader(name); h != nil {
		return printed(strings.Trim(strings.TrimSpace(h.Value()), `"`))
	}
	return ""
}

// addressed takes an address and the parameters behind it apart.
func addressed(v string) (id Identity, uri gosip.Uri, params string, ok bool) {
	name, err := gosip.ParseAddressValue(v, &uri, nil)
	if err != nil {
		return id, uri, "", false
	}
	if at := strings.LastIndexByte(v, '>'); at >= 0 {
		params = v[at+1:]
	} else {
		_, params, _ = strings.Cut(v, ";")
	}
	return IdentityOf(name, &uri), uri, params, true
}

// parseDiversion reads a value of Diversion.
func parseDiversion(v string) (Diversion, bool) {
	by, _, params, ok := addressed(v)
	if !ok {
		return Diversion{}, false
	}
	by.Verstat = "" // it is of callers
	switch strings.ToLower(unquoted(params, "privacy")) {
	case "full":
		by = Identity{}
	case "uri":
		by = Identity{Display: by.Display}
	case "name":
		by.Display = ""
	}
	return Diversion{By: by, Reason: printed(unquoted(params, "reason"))}, true
}

// parseHistory reads a value of History-Info. The cause stands in the URI, as its parameter (RFC 4458), or as a
// Reason that the URI carries (RFC 7044 section 10.2), and so does the privacy.
func parseHistory(v string) (HistoryEntry, bool) {
	to, uri, params, ok := addressed(v)
	e := HistoryEntry{Index: dialog.Param(params, "index"), To: to}
	if !ok || e.Index == "" || len(e.Index) > 32 || strings.Trim(e.Index, "0123456789.") != "" {
		return HistoryEntry{}, false
	}
	e.To.Verstat = ""
	e.Cause = codeOf(uriValue(uri.UriParams, "cause"))
	if reason := uriValue(uri.Headers, "reason"); reason != "" && e.Cause == 0 {
		e.Cause = codeOf(dialog.Param(reason, "cause"))
	}
	if privacy := strings.ToLower(uriValue(uri.Headers, "privacy")); privacy != "" && privacy != "none" {
		e.To = Identity{}
	}
	return e, true
}

// uriValue is a parameter or header that a URI carries.
func uriValue(in gosip.HeaderParams, name string) string {
	for _, p := range in {
		if strings.EqualFold(p.K, name) {
			if v, err := url.PathUnescape(p.V); err == nil {
				return v
			}
		}
	}
	return ""
}

// unquoted is a parameter, which may be a quoted string.
func unquoted(params, name string) string {
	return strings.Trim(dialog.Param(params, name), `"`)
}

// codeOf is a code of SIP; 0: it is none.
func codeOf(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 100 || n > 699 {
		return 0
	}
	return n
}

// compareIndex orders indices number by number.
func compareIndex(a, b string) int {
	for a != "" && b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// attestation is the level where a carrier puts it: in a header of its own, in a parameter of the asserted identity, or
// behind the verdict.
func attestation(req *gosip.Request, asserted Identity) string {
	level := cmp.Or(first(req, "p-attestation-indicator"), first(req, "attestation-info"))
	if h := req.GetHeader("p-asserted-identity"); level == "" && h != nil {
		if _, uri, params, ok := addressed(strings.TrimSpace(firstPart(h.Value(), ','))); ok {
			level = cmp.Or(uriValue(uri.UriParams, "attest"), dialog.Param(uri.User, "attest"), dialog.Param(uri.Raw(), "attest"), unquoted(params, "attest"))
		}
	}
	if i := strings.LastIndexByte(asserted.Verstat, '-'); level == "" && i >= 0 {
		level = asserted.Verstat[i+1:]
	}
	if level = strings.ToUpper(level); len(level) != 1 || !strings.Contains("ABC", level) {
		return ""
	}
	return level
}
