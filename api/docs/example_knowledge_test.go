package docs_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"time"
)

type paper struct{ ID, Title, State, Reason string }

func Example_knowledge() {
	var made struct{ ID string }
	ask("POST", "/v1/knowledge", `{"name": "Handbook", "language": "en"}`, &made)
	base := "/v1/knowledge/" + made.ID
	send("PATCH", base, `{"name": "Bicycle shop"}`).Body.Close()

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "hours.md")
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(part, "# Opening hours\n\nWe open at nine and close at noon on Saturdays.\n") // into memory
	form.Close()
	var file, page paper
	read(send("POST", base+"/documents", body.String(), "Content-Type", form.FormDataContentType()), &file)
	for file.State == "queued" || file.State == "reading" {
		time.Sleep(200 * time.Millisecond)
		ask("GET", base+"/documents/"+file.ID, "", &file)
	}
	fmt.Println(file.Title, file.State, file.Reason)

	ask("POST", base+"/documents", `{"url": "https://example.com/", "title": "Example"}`, &page)
	send("POST", base+"/documents/"+page.ID+"/refresh", "").Body.Close() // fetches it again
	var all struct{ Data []paper }
	ask("GET", base+"/documents", "", &all)
	for _, d := range all.Data {
		fmt.Println(d.Title, d.State)
	}

	var found struct {
		Passages []struct{ Title, Heading, Text string }
	}
	ask("POST", base+"/search", `{"query": "closing time on Saturday"}`, &found)
	for _, p := range found.Passages {
		fmt.Printf("%s, %s: %s\n", p.Title, p.Heading, p.Text)
	}
	var now struct{ Passages int }
	ask("GET", base, "", &now) // name it in settings.knowledge_bases of an agent
	fmt.Println(now.Passages, "passages")

	send("DELETE", base+"/documents/"+page.ID, "").Body.Close()
	send("DELETE", base, "").Body.Close()
	var left struct{ Data []struct{ ID string } }
	ask("GET", "/v1/knowledge", "", &left)
	fmt.Println(len(left.Data), "left; removed")
}
