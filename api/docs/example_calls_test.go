package docs_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

func Example_consents() {
	var list struct{ Data []struct{ Seal string } }
	ask("GET", "/v1/consents?limit=10", "", &list)
	fmt.Printf("%d rows on this page\n", len(list.Data))

	rows, err := csv.NewReader(send("GET", "/v1/consents.csv", "").Body).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	seal := []byte{}
	for _, cells := range rows[1:] {
		row := map[string]string{}
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		number, err := hex.DecodeString(row["to_hash"])
		if err != nil {
			log.Fatal(err)
		}
		hash := sha256.New()
		for _, part := range [][]byte{seal, []byte(row["account_id"]), []byte(row["call_id"]), []byte(row["agent_id"]),
			[]byte(row["key_id"]), []byte(row["ip"]), []byte(row["at"]), number} {
			hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			hash.Write(part)
		}
		if seal = hash.Sum(nil); row["seal"] != hex.EncodeToString(seal) {
			log.Fatalf("row %s does not follow from those before it", row["no"])
		}
	}
	fmt.Printf("%d rows hold together; the last seal is %x\n", len(rows)-1, seal)
}

func Example_forget() {
	var calls struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?limit=100&number="+url.QueryEscape("+34600111222"), "", &calls)
	for _, call := range calls.Data {
		send("DELETE", "/v1/calls/"+call.ID, "").Body.Close()
	}
	fmt.Println(len(calls.Data), "calls forgotten")
}

func Example_keep() {
	var list struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?q="+url.QueryEscape("refund or money"), "", &list)
	for _, call := range list.Data {
		var kept struct{ Tags []string }
		ask("PATCH", "/v1/calls/"+call.ID, `{"tags": ["refund"], "note": "Look at the order.", "metadata": {"order": "42"}}`, &kept)
		fmt.Println(call.ID, kept.Tags)
	}
	fmt.Printf("%d calls about refunds\n", len(list.Data))
}

func Example_completions() {
	var list struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?limit=1", "", &list)
	if len(list.Data) == 0 {
		fmt.Println("no call yet")
		return
	}
	type completion struct {
		No             int
		Outcome        string
		Answer, System string
		FirstMS        *int64 `json:"first_ms"`
		Messages       []struct{ Role, Text string }
	}
	path := "/v1/calls/" + list.Data[0].ID + "/completions"
	var all struct{ Data []completion }
	ask("GET", path, "", &all)
	fmt.Println(len(all.Data), "questions to the model")
	for _, c := range all.Data {
		var whole completion
		ask("GET", fmt.Sprintf("%s/%d", path, c.No), "", &whole)
		fmt.Printf("%s %q, given %d characters of prompt and %d messages\n", c.Outcome, c.Answer, len(whole.System), len(whole.Messages))
	}
}

func Example_listen() {
	var live struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?state=live&limit=1", "", &live)
	if len(live.Data) == 0 {
		fmt.Println("no call in progress")
		return
	}
	url := strings.Replace(os.Getenv("PARLEY_URL"), "http", "ws", 1) + "/v1/calls/" + live.Data[0].ID + "/listen"
	// The key has the mark listen.
	socket, _, err := websocket.DefaultDialer.Dial(url, http.Header{"X-API-Key": {os.Getenv("PARLEY_API_KEY")}})
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	frames := 0
	for frames < 500 {
		kind, message, err := socket.ReadMessage()
		if err != nil {
			break // the call is over
		}
		if kind == websocket.BinaryMessage {
			frames++ // 20 ms of both sides, 16-bit samples: the caller on the left
		} else if strings.Contains(string(message), `"type":"error"`) {
			log.Fatalf("%s", message)
		}
	}
	fmt.Println(float64(frames)/50, "seconds heard")
}

func Example_fork() {
	const receiver = `{"url": "wss://example.com/calls", "headers": {"Authorization": "Bearer {{secret.RECEIVER}}"}}`
	var live struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?state=live&number=%2B34600111222", "", &live)
	for _, call := range live.Data {
		var stream struct{ ID string }
		ask("POST", "/v1/calls/"+call.ID+"/streams", receiver, &stream) // the key has the mark listen
		time.Sleep(10 * time.Second)
		ask("DELETE", "/v1/calls/"+call.ID+"/streams/"+stream.ID, "", nil)
	}
	fmt.Println(len(live.Data), "streams")
}

func Example_history() {
	var list struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?limit=10", "", &list)
	fmt.Printf("%d calls on this page\n", len(list.Data))
	if len(list.Data) == 0 {
		return
	}
	path := "/v1/calls/" + list.Data[0].ID

	var call struct {
		Direction, From, To, Status string
		Duration                    int
		Transcript                  []struct {
			Role, Text string
			At         float64
		}
	}
	ask("GET", path, "", &call)
	fmt.Printf("%s from %s to %s, %d s, %s\n", call.Direction, call.From, call.To, call.Duration, call.Status)
	for _, line := range call.Transcript {
		fmt.Printf("%.1f s %s: %s\n", line.At, line.Role, line.Text)
	}

	var quality struct {
		Available bool
		MOS, Loss float64
		RTT       float64 `json:"rtt_ms"`
	}
	ask("GET", path+"/quality", "", &quality)
	if quality.Available {
		fmt.Printf("MOS %.2f, %.1f %% lost, round trip %.1f ms\n", quality.MOS, 100*quality.Loss, quality.RTT)
	}

	var signalling struct {
		Data []struct{ At, Direction, Message string }
	}
	ask("GET", path+"/sip", "", &signalling)
	for _, m := range signalling.Data {
		first, _, _ := strings.Cut(m.Message, "\r\n")
		fmt.Println(m.At, m.Direction, first)
	}
}

// fetch keeps the recording of a call, if there is one.
func fetch(call string) bool {
	path := "/v1/calls/" + call + "/recording"
	request, err := http.NewRequest("GET", os.Getenv("PARLEY_URL")+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_API_KEY"))
	recording, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer recording.Body.Close()
	if recording.StatusCode != http.StatusOK {
		return false // 404: it was not recorded; 409: not ready yet; 410: deleted, or kept long enough
	}
	kind := ".wav"
	if recording.Header.Get("Content-Type") == "audio/ogg" {
		kind = ".ogg"
	}
	file, err := os.Create(call + kind)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	if _, err := io.Copy(file, recording.Body); err != nil {
		log.Fatal(err)
	}
	var sides struct{ Caller, Agent []int } // each at most 1,200 values from 0 to 255
	ask("GET", path+"/peaks", "", &sides)
	fmt.Println(call, len(sides.Caller), "points")
	send("DELETE", path, "").Body.Close()
	return true
}

func Example_recording() {
	var calls struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?limit=10&state=ended", "", &calls)
	fetched := 0
	for _, call := range calls.Data {
		if fetch(call.ID) {
			fetched++
		}
	}
	fmt.Println(fetched, "recordings fetched")
}

type answers struct {
	Key   string
	Turns int
	Total struct{ P50, P90, P99 int } `json:"total_ms"`
}

func Example_review() {
	var latency struct {
		Data  []answers
		Total answers
	}
	ask("GET", "/v1/latency?group_by=day", "", &latency)
	for _, day := range latency.Data {
		fmt.Println(day.Key, day.Turns, "answers,", day.Total.P50, "to", day.Total.P90, "ms")
	}
	fmt.Println(latency.Total.Turns, "answers of all days")

	var engines struct {
		Data []struct {
			Stage, Engine string
			P50           int `json:"p50_ms"`
			P95           int `json:"p95_ms"`
		}
	}
	ask("GET", "/v1/latency/engines", "", &engines)
	for _, e := range engines.Data {
		fmt.Println(e.Stage, e.Engine, e.P50, "to", e.P95, "ms")
	}
	fmt.Println(len(engines.Data), "engines waited for")

	fmt.Printf("%s\n", bytesOf(send("GET", "/v1/calls.csv?state=ended", "")))

	var live struct{ Data []struct{ ID string } }
	ask("GET", "/v1/calls?state=live&direction=outbound", "", &live)
	for _, call := range live.Data {
		send("POST", "/v1/calls/"+call.ID+"/hangup", "").Body.Close()
	}
	fmt.Println(len(live.Data), "calls hung up")
}

func Example_statistics() {
	var statistics struct {
		Total struct {
			Calls, Answered, Duration int
			Cost                      json.Number
		}
		Days []struct {
			Day   string
			Calls int
			Rate  float64 `json:"answer_rate"`
		} `json:"by_day"`
		Stages []struct {
			Stage, Engine string // empty: null
			P50           int    `json:"p50_ms"`
			P95           int    `json:"p95_ms"`
		}
	}
	ask("GET", "/v1/statistics?direction=inbound&group_by=day", "", &statistics)
	total := statistics.Total
	fmt.Printf("%d of %d calls were answered, %.1f minutes for %s USD\n", total.Answered, total.Calls, float64(total.Duration)/60, total.Cost)
	for _, day := range statistics.Days {
		fmt.Println(day.Day, day.Calls, day.Rate)
	}
	for _, s := range statistics.Stages {
		fmt.Println(s.Stage, s.Engine, s.P50, "to", s.P95, "ms")
	}
}
