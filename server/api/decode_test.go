package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// plain is what a body says, in a form that can be compared.
type plain struct {
	Batch, Status bool
	Items         []Request
}

// plainOf copies what was parsed.
func plainOf(p *parsed) plain {
	all := plain{Batch: p.batch, Status: p.status}
	for i := range p.items {
		it := &p.items[i]
		r := it.request
		w := Request{
			Method: r.Method, Host: r.Host, Path: r.Path, Query: r.Query, IP: it.ip, User: r.User, Cost: r.Cost, Length: r.Length,
			Headers: map[string]string{}, Attributes: map[string]string{},
		}
		for _, h := range it.headers {
			w.Headers[h.name] = h.value
		}
		for name, value := range it.attributes {
			w.Attributes[name] = value
		}
		if (len(it.headers) > 0) != (r.Header != nil) || (len(it.attributes) > 0) != (r.Attributes != nil) {
			panic("headers or attributes are not handed on")
		}
		all.Items = append(all.Items, w)
	}
	return all
}

// agree checks that the quick decoder says what encoding/json says, or leaves it to
// that. It reports whether the quick one took the body.
func agree(t *testing.T, body string) (quick bool) {
	t.Helper()
	var p parsed
	quick = p.decode(body)
	var x exchange
	x.body = []byte(body)
	var w CheckRequest
	problem := decodeStrict(x.body, &w)
	if quick && problem != nil {
		t.Fatalf("taken, but refused by encoding/json: %q: %v", body, problem)
	}
	if !quick {
		return false
	}
	var slow parsed
	slow.batch, slow.status = w.Requests != nil, w.Status
	if slow.batch {
		for i := range w.Requests {
			slow.next().fill(&w.Requests[i])
		}
	} else {
		slow.next().fill(&w.Request)
	}
	if problem := slow.finish(); problem != nil {
		t.Fatalf("taken, but not valid: %q: %v", body, problem)
	}
	if got, want := plainOf(&p), plainOf(&slow); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q:\n got %+v\nwant %+v", body, got, want)
	}
	return true
}

// quickly are bodies that the quick decoder has to take.
var quickly = []string{
	`{}`,
	` { } `,
	`{"method":"POST","host":"h","path":"/login","query":"a=1","ip":"1.2.3.4","user":"ann","headers":{"X-Api-Key":"k"},"attributes":{"app":"web"},"cost":2,"length":0}`,
	"{\n\t\"path\" : \"/a\\u00e9\\n\\\"\\\\\\/\" , \"length\" : -1,\r\n\"cost\":0 }",
	`{"user":"zoë 日本 😀","path":""}`,
	`{"ip":"2001:db8::1"}`,
	`{"ip":"","headers":{},"attributes":{}}`,
	`{"status":true,"path":"/x"}`,
	`{"path":"/x?y=1","status":false}`,
	`{"requests":[{"path":"/a"},{},{"user":"b"}]}`,
	`{"cost":-0}`,
	`{"headers":{"a":"1","b":"2"},"attributes":{"a":"1","b":"2"}}`,
}

// slowly are bodies that it has to leave, right or wrong.
var slowly = []string{
	``, `null`, `[]`, `"x"`, `1`, `{`, `{}x`, `{} {}`, `{"path"}`, `{"path":}`, `{"path":"/a",}`, `{,}`, `{"path":"/a" "user":"b"}`,
	`{"path":null}`, `{"Path":"/a"}`, `{"path":"/a","path":"/b"}`, `{"paht":"/a"}`, `{"path":1}`, `{"cost":"1"}`, `{"cost":1.5}`, `{"cost":1e3}`,
	`{"cost":01}`, `{"cost":+1}`, `{"cost":-}`, `{"cost":- 1}`, `{"cost":9223372036854775807}`, `{"cost":9223372036854775808}`, `{"cost":-1}`,
	`{"length":-2}`, `{"ip":"x"}`, `{"ip":"1.2.3.4:80"}`, `{"path":"/a?b","query":"c"}`,
	"{\"path\":\"\x01\"}", "{\"path\":\"\xff\"}", "{\"path\":\"\\\"\xff\"}", `{"path":"\ud83d\ude00"}`, `{"path":"\ud800"}`, `{"path":"\x41"}`, `{"path":"\u12"}`, `{"path":"\u12g4"}`, `{"path":"`, `{"path":"\`,
	`{"headers":{"A":"1","a":"2"}}`, `{"headers":{"a":1}}`, `{"headers":[]}`, `{"headers":{"a":null}}`, `{"attributes":{"a":"1","a":"2"}}`, `{"attributes":null}`,
	`{"requests":[]}`, `{"requests":[{}],"path":"/a"}`, `{"path":"/a","requests":[{}]}`, `{"requests":[{}],"status":true}`, `{"requests":[{"status":true}]}`,
	`{"requests":[{"requests":[]}]}`, `{"requests":[null]}`, `{"requests":[{}`, `{"requests":{}}`, `{"requests":[{},]}`, `{"status":1}`, `{"status":truex}`, `{"status":nul}`,
	`{"requests":[` + strings.Repeat(`{},`, MaxBatch) + `{}]}`,
	`{"headers":{` + many(most+1) + `}}`, `{"attributes":{` + many(most+1) + `}}`,
	strings.Repeat(`{"requests":[`, 2000),
}

// many writes n members.
func many(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"h%d":"v"`, i)
	}
	return strings.Join(members, ",")
}

func TestDecoder(t *testing.T) {
	for _, body := range quickly {
		if !agree(t, body) {
			t.Errorf("not taken: %q", body)
		}
	}
	for _, body := range slowly {
		if agree(t, body) {
			t.Errorf("taken: %.100q", body)
		}
	}
}

// TestDecoderTakesWhatPeopleSend: bodies that encoding/json writes are taken, and mean
// the same.
func TestDecoderTakesWhatPeopleSend(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		w := CheckRequest{Request: randomRequest(random)}
		if random.IntN(3) == 0 {
			w = CheckRequest{}
			for range 1 + random.IntN(5) {
				w.Requests = append(w.Requests, randomRequest(random))
			}
		}
		body, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		if !agree(t, string(body)) {
			t.Fatalf("not taken: %s", body)
		}
	}
}

func randomRequest(random *rand.Rand) Request {
	text := func() string {
		alphabet := []rune("abz/ %\"\\\n\t<>&é日�😀")
		runes := make([]rune, random.IntN(9))
		for i := range runes {
			runes[i] = alphabet[random.IntN(len(alphabet))]
		}
		return string(runes)
	}
	r := Request{Method: text(), Host: text(), Path: text(), Query: text(), User: text(), Cost: random.Int64N(1e15), Length: random.Int64N(1e18) - 1}
	if random.IntN(2) == 0 {
		r.IP = "192.0.2.1"
		r.Headers = map[string]string{"a": text(), "b" + text(): text()}
		r.Attributes = map[string]string{text(): text(), text(): text()}
	}
	return r
}

func FuzzDecoder(f *testing.F) {
	for _, body := range slices.Concat(quickly, slowly) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) { agree(t, body) })
}

// TestMemoryIsClean: nothing of a request is left for the next one.
func TestMemoryIsClean(t *testing.T) {
	var p parsed
	if !p.decode(`{"requests":[` + strings.Repeat(quickly[2]+",", 3) + `{}]}`) {
		t.Fatal("not taken")
	}
	p.clear()
	if !p.decode(`{"requests":[{},{},{},{}]}`) {
		t.Fatal("not taken")
	}
	empty := Request{Headers: map[string]string{}, Attributes: map[string]string{}}
	for _, got := range plainOf(&p).Items {
		if !reflect.DeepEqual(got, empty) {
			t.Errorf("left over: %+v", got)
		}
	}
}

func TestHeadersFold(t *testing.T) {
	h := headers{{"x-api-key", "k"}, {"Empty", ""}}
	for name, want := range map[string]string{"X-Api-Key": "k", "x-API-key": "k", "Empty": "", "X-Api": "", "": ""} {
		if got := h.Get(name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
}
