package blobtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSkew is how far the clocks of a client and of S3 may be apart.
const maxSkew = 15 * time.Minute

// unreserved are the characters of a URI that a canonical request keeps as they are.
const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

// verify checks the signature of a request (AWS Signature Version 4, in headers) and returns its
// payload, which may come in signed chunks.
func verify(r *http.Request, body []byte) ([]byte, *refusal) {
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	fields := map[string]string{}
	for _, f := range strings.Split(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
		fields[name] = value
	}
	credential := strings.Split(fields["Credential"], "/")
	stamp, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case scheme != "AWS4-HMAC-SHA256" || len(credential) != 5 || err != nil:
		return nil, refused(http.StatusForbidden, "MissingSecurityHeader")
	case credential[0] != Key:
		return nil, refused(http.StatusForbidden, "InvalidAccessKeyId")
	case time.Since(stamp).Abs() > maxSkew:
		return nil, refused(http.StatusForbidden, "RequestTimeTooSkewed")
	case credential[1] != stamp.Format("20060102") || credential[2] != Region || credential[3] != "s3" || credential[4] != "aws4_request":
		return nil, refused(http.StatusForbidden, "SignatureDoesNotMatch")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for name := range r.Header {
		name = strings.ToLower(name)
		if (strings.HasPrefix(name, "x-amz-") || name == "content-type" || name == "content-md5") && !slices.Contains(signed, name) {
			return nil, refused(http.StatusForbidden, "AccessDenied")
		}
	}
	if !slices.Contains(signed, "host") || !slices.IsSorted(signed) {
		return nil, refused(http.StatusForbidden, "AccessDenied")
	}
	scope := strings.Join(credential[1:], "/")
	key := []byte("AWS4" + Secret)
	for _, part := range credential[1:] {
		key = sign(key, part)
	}
	text := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + digest([]byte(canonical(r, signed)))
	signature := hex.EncodeToString(sign(key, text))
	if !hmac.Equal([]byte(signature), []byte(fields["Signature"])) {
		return nil, refused(http.StatusForbidden, "SignatureDoesNotMatch")
	}
	switch claimed := r.Header.Get("X-Amz-Content-Sha256"); claimed {
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD":
		return chunks(r, body, key, r.Header.Get("X-Amz-Date")+"\n"+scope, signature)
	case "UNSIGNED-PAYLOAD":
		if r.TLS == nil && len(body) > 0 {
			return nil, refused(http.StatusBadRequest, "AnUnsignedPayloadInTheClear")
		}
	case digest(body):
	default:
		return nil, refused(http.StatusBadRequest, "XAmzContentSHA256Mismatch")
	}
	return body, nil
}

// canonical is the canonical request.
func canonical(r *http.Request, signed []string) string {
	var query []string
	for name, values := range r.URL.Query() {
		for _, v := range values {
			query = append(query, escape(name, "")+"="+escape(v, ""))
		}
	}
	slices.Sort(query)
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return strings.Join([]string{r.Method, escape(r.URL.Path, "/"), strings.Join(query, "&"), headers.String(), strings.Join(signed, ";"),
		r.Header.Get("X-Amz-Content-Sha256")}, "\n")
}

// chunks takes a payload apart that is signed chunk by chunk, each over the signature of the one
// before.
func chunks(r *http.Request, body, key []byte, when, last string) (payload []byte, bad *refusal) {
	mismatch := refused(http.StatusForbidden, "SignatureDoesNotMatch")
	for size := -1; size != 0; {
		head, rest, ok := bytes.Cut(body, []byte("\r\n"))
		digits, claimed, both := strings.Cut(string(head), ";chunk-signature=")
		n, err := strconv.ParseInt(digits, 16, 32)
		if size = int(n); !ok || !both || err != nil || len(rest) < size+2 || string(rest[size:size+2]) != "\r\n" {
			return nil, refused(http.StatusBadRequest, "IncompleteBody")
		}
		text := "AWS4-HMAC-SHA256-PAYLOAD\n" + when + "\n" + last + "\n" + digest(nil) + "\n" + digest(rest[:size])
		if last = hex.EncodeToString(sign(key, text)); last != claimed {
			return nil, mismatch
		}
		payload, body = append(payload, rest[:size]...), rest[size+2:]
	}
	if r.Header.Get("X-Amz-Decoded-Content-Length") != strconv.Itoa(len(payload)) || len(body) > 0 {
		return nil, refused(http.StatusBadRequest, "IncompleteBody")
	}
	return payload, nil
}

// escape writes what is not unreserved, nor in keep, as %XX (RFC 3986, section 2.1).
func escape(s, keep string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; strings.IndexByte(unreserved+keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

func sign(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
