package node

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"parley/api/wire"
	"parley/inference"
	"parley/media"
	"parley/media/wav"
	"parley/sip/simulated"
	"parley/store/people"
	"parley/store/sounds"
)

// TestHoldSound over real SIP and RTP: a caller hears the recording that their account has sent while the sales desk is called, and the
// ringing tone when it is deleted.
func TestHoldSound(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, key, err := people.New(d.node.db).MakeKey(d.Context(), people.NewKey{Account: d.who.Account, Name: "sounds", Role: people.RoleMember})
	d.ok(err)
	tone := make([]int16, 2*44100)
	for i := range tone {
		tone[i] = int16(8000 * math.Sin(2*math.Pi*1300*float64(i)/44100))
	}
	var file bytes.Buffer
	d.ok(wav.Encode(&file, wav.Clip{Samples: tone, Rate: 44100}))
	r := httptest.NewRequest(http.MethodPost, "/v1/sounds?name=Waltz", &file)
	r.Header.Set("Content-Type", "audio/wav")
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	d.node.Handler().ServeHTTP(w, r)
	var waltz wire.Sound
	if w.Code != http.StatusCreated || json.Unmarshal(w.Body.Bytes(), &waltz) != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	number, _ := d.calling(`{"speculative_llm":false,"hold_sound":"`+waltz.ID+`","transfer_to":[{"number":"+34911000002","name":"sales"}]}`,
		inference.ToolCall{Name: "transfer_call", Arguments: `{"to":"sales"}`}) // where it rings for ever
	for _, deleted := range []bool{false, true} {
		if deleted {
			d.ok(sounds.New(d.node.db).Delete(d.Context(), d.who.Account, waltz.ID))
		}
		heard := d.phones(number, simulated.PhoneConfig{Wait: 7 * time.Second}).Heard
		sound, ring := strongest(heard, 1300), strongest(heard, 425)
		if deleted && (ring < 2000 || sound > 1000) || !deleted && sound < 5000 {
			t.Errorf("deleted %v: the sound is heard with %.0f and the tone with %.0f", deleted, sound, ring)
		}
	}
}

// strongest is the amplitude of a frequency in the half second that has most of it.
func strongest(heard []int16, hz float64) (most float64) {
	const span = int(media.Rate8k) / 2
	for ; len(heard) >= span; heard = heard[span/2:] {
		re, im := 0.0, 0.0
		for i, s := range heard[:span] {
			w := 2 * math.Pi * hz * float64(i) / float64(media.Rate8k)
			re, im = re+float64(s)*math.Cos(w), im+float64(s)*math.Sin(w)
		}
		most = max(most, 2*math.Hypot(re, im)/float64(span))
	}
	return most
}
