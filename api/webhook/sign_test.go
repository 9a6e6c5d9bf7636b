package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/api/webhook"
)

// Two secrets and what they make of one message, computed apart from this program with
// `printf '%s' ID.TIMESTAMP.BODY | openssl dgst -sha256 -mac HMAC -macopt hexkey:…`.
const (
	message   = `{"test": 2432232314}`
	messageID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	sentAt    = 1614265330
)

var vectors = []struct{ key, signature string }{
	{"303132333435363738396162636465666768696a6b6c6d6e", "GeTMeTeFP8JrGpDzN9HSPLOBhIa2Pv5QkXhDxqUzDt0="},
	{"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI="},
}

func secretOf(t *testing.T, key string) string {
	b, err := hex.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

func TestSign(t *testing.T) {
	for _, v := range vectors {
		h := http.Header{}
		if err := webhook.Sign(h, []string{secretOf(t, v.key)}, messageID, time.Unix(sentAt, 999), []byte(message)); err != nil {
			t.Fatal(err)
		}
		if h.Get("webhook-id") != messageID || h.Get("webhook-timestamp") != "1614265330" || h.Get("webhook-signature") != "v1,"+v.signature {
			t.Errorf("%v, want %s", h, v.signature)
		}
	}
	h := http.Header{}
	if err := webhook.Sign(h, []string{secretOf(t, vectors[0].key), secretOf(t, vectors[1].key)}, messageID, time.Unix(sentAt, 0), []byte(message)); err != nil {
		t.Fatal(err)
	}
	if h.Get("webhook-signature") != "v1,"+vectors[0].signature+" v1,"+vectors[1].signature {
		t.Errorf("two secrets: %v", h)
	}
	if err := webhook.Sign(h, []string{"whsec_hunter2!"}, messageID, time.Unix(sentAt, 0), nil); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret that is none: %v", err)
	}
}

// FuzzSign: whatever is signed, a receiver that follows the formula finds it good, and
// one byte more is not.
func FuzzSign(f *testing.F) {
	f.Add("evt_1", int64(sentAt), []byte(message))
	f.Fuzz(func(t *testing.T, id string, at int64, body []byte) {
		key := []byte(strings.Repeat("k", 32))
		h := http.Header{}
		if err := webhook.Sign(h, []string{"whsec_" + base64.StdEncoding.EncodeToString(key)}, id, time.Unix(at, 0), body); err != nil {
			t.Fatal(err)
		}
		sign := func(body []byte) string {
			mac := hmac.New(sha256.New, key)
			mac.Write(append([]byte(id+"."+h.Get("webhook-timestamp")+"."), body...))
			return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		}
		if h.Get("webhook-signature") != sign(body) || h.Get("webhook-signature") == sign(append([]byte{}, append(body, 'x')...)) {
			t.Error(h)
		}
	})
}
