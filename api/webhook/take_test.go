package webhook_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/api/webhook"
	"parley/api/wire"
)

// TestTake: a program takes events as requests that are signed like those that are sent, waits for them, and says how it
// went. A webhook whose events are sent, or of another account, gives none.
func TestTake(t *testing.T) {
	o := open(t)
	_, made := o.ask(o.A.Key, "POST", "/v1/webhooks", `{"url":"http://localhost:3000/x","listen":true}`, 201)
	secret, path := made["secret"].(string), "/v1/webhooks/"+made["id"].(string)
	if made["listens_until"] == nil {
		t.Errorf("%v", made)
	}
	_, sent := o.ask(o.A.Key, "POST", "/v1/webhooks", `{"url":"https://example.com/parley"}`, 201)
	o.ask(o.A.Key, "POST", "/v1/webhooks/"+sent["id"].(string)+"/deliveries/take", "", 400)
	o.ask(o.A.Key, "POST", "/v1/webhooks", `{"url":"http://localhost:3000/x","listen":true,"events":["x"]}`, 400)
	o.ask(o.A.Key, "POST", path+"/deliveries/take?wait=26", "", 400)
	take := func(wait string) *wire.TakenEvent {
		t.Helper()
		text, _ := o.ask(o.A.Key, "POST", path+"/deliveries/take?wait="+wait, "", 200)
		var got wire.Taken
		o.OK(json.Unmarshal([]byte(text), &got))
		return got.Event
	}
	if e := take("0"); e != nil {
		t.Errorf("before anything has happened: %+v", e)
	}
	_, event := o.ask(o.A.Key, "POST", path+"/test", "", 202)
	id := event["id"].(string)
	e := take("0")
	if e == nil || e.ID != id || e.Type != "webhook.test" || e.Headers["content-type"] != "application/json" || e.Headers["webhook-id"] != id {
		t.Fatalf("%+v", e)
	}
	at, err := strconv.ParseInt(e.Headers["webhook-timestamp"], 10, 64)
	o.OK(err)
	signed := http.Header{}
	o.OK(webhook.Sign(signed, []string{secret}, id, time.Unix(at, 0), []byte(e.Body)))
	if e.Headers["webhook-signature"] != signed.Get("webhook-signature") || !strings.Contains(e.Body, `"webhook_id":"`+made["id"].(string)+`"`) {
		t.Errorf("%+v", e)
	}
	if next := take("0"); next != nil {
		t.Errorf("the program has one, and gets %+v", next)
	}
	report := path + "/deliveries/" + id + "/attempts"
	for _, bad := range []string{`{}`, `{"status":1000}`, `{"status":200,"answer":"` + strings.Repeat("x", 1025) + `"}`} {
		o.ask(o.A.Key, "POST", report, bad, 400)
	}
	for _, route := range []string{path + "/deliveries/take", report} {
		o.ask(o.B.Key, "POST", route, `{"status":200}`, 404)
	}
	if _, got := o.ask(o.A.Key, "POST", report, `{"status":503,"latency_ms":12,"answer":"busy"}`, 200); got["state"] != "failed" || got["ended_at"] == nil {
		t.Errorf("%v", got)
	}
	o.ask(o.A.Key, "POST", path+"/deliveries/"+id+"/retry", "", 202)
	if e := take("0"); e == nil || e.ID != id {
		t.Errorf("asked for again: %+v", e)
	}
	if _, got := o.ask(o.A.Key, "POST", report, `{"status":200}`, 200); got["state"] != "delivered" || len(got["attempts"].([]any)) != 2 {
		t.Errorf("%v", got)
	}

	later := make(chan apitest.Reply, 1)
	go func() { later <- o.As(o.A, "POST", path+"/deliveries/take?wait=25", "") }()
	_, event = o.ask(o.A.Key, "POST", path+"/test", "", 202)
	if r := <-later; r.Status != 200 || !strings.Contains(string(r.Body), event["id"].(string)) {
		t.Errorf("waiting: %d %s", r.Status, r.Body)
	}
	o.ask(o.A.Key, "DELETE", path, "", 204)
	o.ask(o.A.Key, "POST", path+"/deliveries/take", "", 404)
}
