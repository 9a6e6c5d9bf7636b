package sounds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/sounds"
	"parley/api/ticket"
	"parley/api/wire"
	"parley/media"
	"parley/media/wav"
	"parley/store/storetest"

	kept "parley/store/sounds"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func open(t *testing.T) *apitest.World {
	t.Helper()
	w := apitest.Open(t, apitest.Options{})
	signer, err := ticket.NewSigner("a master secret of a test, long enough")
	w.OK(err)
	a := api.New(ticket.Keys{Signer: signer, Store: w.DB, People: w.People})
	a.Remember(w.DB)
	sounds.Mount(a, w.DB)
	w.Serve(a, api.Options{Log: slog.New(slog.DiscardHandler)})
	return w
}

// tone is a WAV file of a tone of 440 Hz.
func tone(rate media.Rate, seconds int) string {
	samples := make([]int16, seconds*int(rate))
	for i := range samples {
		samples[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
	}
	var b bytes.Buffer
	_ = wav.Encode(&b, wav.Clip{Samples: samples, Rate: rate}) // into memory
	return b.String()
}

// form is a form with a file and a name.
func form(t *testing.T, file, name string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("audio", "a.wav")
	if err == nil {
		_, err = part.Write([]byte(file))
	}
	if err == nil {
		err = w.WriteField("name", name)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// TestSounds: a recording of any rate is kept as telephones play it, by a form or as it is, and is the account's alone.
func TestSounds(t *testing.T) {
	w := open(t)
	body, kind := form(t, tone(media.Rate48k, 2), "Waltz")
	var s wire.Sound
	r := w.As(w.A, "POST", "/v1/sounds", body, "Content-Type", kind)
	w.Want("a form", r, http.StatusCreated, "")
	w.OK(json.Unmarshal(r.Body, &s))
	if !strings.HasPrefix(s.ID, "snd_") || s.Name != "Waltz" || s.DurationMS != 2000 {
		t.Errorf("%+v", s)
	}
	w.Want("a file", w.As(w.A, "POST", "/v1/sounds?name=Polka", tone(8000, 1), "Content-Type", "audio/wav"), http.StatusCreated, "")

	var list struct{ Data []wire.Sound }
	w.OK(json.Unmarshal(w.As(w.A, "GET", "/v1/sounds", "").Body, &list))
	if len(list.Data) != 2 || list.Data[0].Name != "Polka" || list.Data[1] != s {
		t.Errorf("%+v", list.Data)
	}
	at := "/v1/sounds/" + s.ID
	r = w.As(w.A, "GET", at+"/audio", "")
	w.Want("the audio", r, http.StatusOK, "")
	clip, err := wav.Decode(bytes.NewReader(r.Body), 1<<20)
	w.OK(err)
	if peak := loudest(clip.Samples); clip.Rate != 16000 || len(clip.Samples) != 32000 || peak < 7500 || peak > 8500 {
		t.Errorf("%d samples at %v, up to %d", len(clip.Samples), clip.Rate, peak)
	}

	w.Want("another account's audio", w.As(w.B, "GET", at+"/audio", ""), http.StatusNotFound, "request.not_found")
	w.Want("delete another account's", w.As(w.B, "DELETE", at, ""), http.StatusNotFound, "request.not_found")
	w.OK(json.Unmarshal(w.As(w.B, "GET", "/v1/sounds", "").Body, &list))
	if len(list.Data) != 0 {
		t.Errorf("another account lists %+v", list.Data)
	}
	w.Want("delete", w.As(w.A, "DELETE", at, ""), http.StatusNoContent, "")
	w.Want("what was deleted", w.As(w.A, "GET", at+"/audio", ""), http.StatusNotFound, "request.not_found")
	w.Want("no identifier", w.As(w.A, "GET", "/v1/sounds/%00/audio", ""), http.StatusNotFound, "request.not_found")
}

func loudest(samples []int16) (peak int) {
	for _, s := range samples {
		peak = max(peak, int(s), -int(s))
	}
	return peak
}

// TestRefused: what is no recording, too long, without a name or one too many is refused, with why.
func TestRefused(t *testing.T) {
	w := open(t)
	add := func(query, body, kind string) (status int, answer string) {
		r := w.As(w.A, "POST", "/v1/sounds"+query, body, "Content-Type", kind)
		return r.Status, string(r.Body)
	}
	for _, tt := range []struct {
		query, body, kind string
		status            int
		why               string
	}{
		{"", tone(8000, 1), "audio/wav", 400, "name: 1 to 100 characters"},
		{"?name=" + strings.Repeat("x", 101), tone(8000, 1), "audio/wav", 400, "name: 1 to 100 characters"},
		{"?name=x", "no recording", "audio/wav", 400, "no audio of a known kind"},
		{"?name=x", tone(8000, 181), "audio/wav", 413, "three minutes"},
		{"?name=x", tone(8000, 1), "text/plain", 415, ""},
	} {
		if status, answer := add(tt.query, tt.body, tt.kind); status != tt.status || !strings.Contains(answer, tt.why) {
			t.Errorf("%s %s: %d %s", tt.query, tt.kind, status, answer)
		}
	}
	for i := range kept.MaxSounds {
		if status, answer := add(fmt.Sprintf("?name=%d", i), tone(8000, 1), "audio/wav"); status != 201 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if status, answer := add("?name=more", tone(8000, 1), "audio/wav"); status != 400 || !strings.Contains(answer, "at most 32 sounds") {
		t.Errorf("%d %s", status, answer)
	}
}
