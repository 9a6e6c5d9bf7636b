package wire

import "time"

// KnowledgeBase is a collection of documents that agents look things up in.
type KnowledgeBase struct {
	ID        string    `json:"id" doc:"Names the collection in requests and in settings.knowledge_bases of agents." example:"kb_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name      string    `json:"name" doc:"What it is called." example:"Handbook"`
	Language  string    `json:"language" doc:"What its documents are written in. For en, es, fr, it, de and pt words are found in all their forms, else as they are written." example:"en"`
	Documents int       `json:"documents" doc:"How many documents it has." example:"3"`
	Ready     int       `json:"ready" doc:"How many of them are found: all that were read once." example:"3"`
	Passages  int       `json:"passages" doc:"Into how many passages they are cut." example:"120"`
	Bytes     int64     `json:"bytes" doc:"How large they are together." example:"480000"`
	CreatedAt time.Time `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time `json:"updated_at" doc:"When it was renamed last, or made."`
}

// NewKnowledgeBase makes a collection.
type NewKnowledgeBase struct {
	Name     string `json:"name" doc:"What it is called." minLength:"1" maxLength:"100" example:"Handbook"`
	Language string `json:"language,omitempty" doc:"What its documents are written in, such as en or pt-BR. It stays as it is." maxLength:"20" pattern:"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$" default:"en" example:"en"`
}

// KnowledgeBaseChange changes a collection.
type KnowledgeBaseChange struct {
	Name string `json:"name" doc:"What it is called." minLength:"1" maxLength:"100" example:"Staff handbook"`
}

// KnowledgeDocument is a file or an address in a collection.
type KnowledgeDocument struct {
	ID        string     `json:"id" doc:"Names the document in requests." example:"doc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Title     string     `json:"title" doc:"What it is called: as it was given, else the file's name, or the title of the page." example:"Opening hours"`
	Source    string     `json:"source" doc:"The file's name, or the address." example:"https://example.com/hours"`
	Kind      string     `json:"kind" doc:"Whether it is a file or an address." enum:"file,url" example:"url"`
	MediaType string     `json:"media_type" doc:"What it was read as; empty: not known yet." example:"text/html"`
	Bytes     int64      `json:"bytes" doc:"How large it is; of an address as it was fetched last." example:"16000"`
	State     string     `json:"state" doc:"Whether it waits to be read, is being read, is found, or could not be read." enum:"queued,reading,ready,failed" example:"ready"`
	Reason    string     `json:"reason,omitempty" doc:"Why it could not be read." example:"a password protects it"`
	Pages     int        `json:"pages" doc:"How many pages it has; 0: its format has none." example:"0"`
	Passages  int        `json:"passages" doc:"Into how many passages it is cut. Those of the last time stay while it is read again, and when that fails." example:"12"`
	Hash      string     `json:"hash" doc:"SHA-256 of its bytes; empty: none are known yet." example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	CreatedAt time.Time  `json:"created_at" doc:"When it was added."`
	UpdatedAt time.Time  `json:"updated_at" doc:"When its state changed last."`
	ReadAt    *time.Time `json:"read_at" doc:"When its passages were made; null: it has none."`
}

// NewKnowledgeAddress adds an address to a collection.
type NewKnowledgeAddress struct {
	URL   string `json:"url" doc:"What is fetched: https, on the public Internet, at most 20 MB; three redirects are followed." minLength:"1" maxLength:"2000" example:"https://example.com/hours"`
	Title string `json:"title,omitempty" doc:"What the document is called; without it as the page is." maxLength:"100" example:"Opening hours"`
}

// KnowledgeQuestion is a search.
type KnowledgeQuestion struct {
	Query string `json:"query" doc:"What is searched for; \"in one place\" and -not are understood." minLength:"1" maxLength:"1000" example:"opening hours on Saturday"`
	Limit int    `json:"limit,omitempty" doc:"How many passages at most." minimum:"1" maximum:"5" default:"5"`
}

// KnowledgeAnswer is what a search finds.
type KnowledgeAnswer struct {
	Passages []KnowledgePassage `json:"passages" doc:"The best first." nullable:"false"`
	TookMS   float64            `json:"took_ms" doc:"How long the search took." example:"4.2"`
}

// KnowledgePassage is a part of a document.
type KnowledgePassage struct {
	DocumentID string  `json:"document_id" doc:"Its document." example:"doc_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Title      string  `json:"title" doc:"The document's title." example:"Opening hours"`
	Source     string  `json:"source" doc:"Its file's name, or its address." example:"https://example.com/hours"`
	Page       int     `json:"page" doc:"The first page that it is on, from 1; 0: the document has none." example:"0"`
	Heading    string  `json:"heading" doc:"The heading that it stands under, or empty." example:"Weekend"`
	Text       string  `json:"text" doc:"What it says." example:"On Saturdays we open at nine and close at noon."`
	Rank       float64 `json:"rank" doc:"How well it fits, to compare passages of one search; from 1 on, which only a search by words alone gives, it has all of the words." example:"1.09"`
}
