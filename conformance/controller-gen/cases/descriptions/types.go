// +groupName=parity.example.com
// +versionName=v1
package descriptions

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Worded is a type. It has two sentences. And a third that is quite a bit longer than the others are.
type Worded struct {
	// A line
	// and another.
	//
	// A paragraph after a blank line that is long enough to be folded if it were not a block: it is a block.
	Lines string `json:"lines"`
	// One line that is longer than eighty columns, so that it has to be folded somewhere: after the column 80.
	Long string `json:"long"`
	// One line with a colon: it has to be quoted, and it is longer than eighty columns, so it's folded within quotes.
	Colon string `json:"colon"`
	// "Quoted" from the first letter on.
	Quoted string `json:"quoted"`
	// 123
	Digits string `json:"digits"`
	// true
	Word string `json:"word"`
	// An emoji 🚀 in a line.
	Emoji string `json:"emoji"`
	// An emoji 🚀 in one of
	// two lines.
	EmojiLines string `json:"emojiLines"`
	// Tab	here, and ünïcödé – “quotes” too.
	Tab string `json:"tab"`
	//   three spaces first
	//     five spaces on the second
	Indented string `json:"indented"`
	// Before.
	// TODO: drop this line
	// TODO(somebody) and this
	// After, TODO stays here.
	Todo string `json:"todo"`
	// Before the rule.
	// ---
	// After the rule.
	Rule string `json:"rule"`
	// Ends with a task.
	// TODO: the last line
	Last string `json:"last"`
	// Fenced:
	// ```
	// TODO: stays
	// ---
	//   indented
	// ```
	// TODO: goes
	// End.
	Fenced string `json:"fenced"`
	// Also fenced:
	// ~~~yaml
	// TODO: stays
	// ~~~
	Tildes string `json:"tildes"`
	// Has a directive.
	//nolint:all
	//go:generate nothing
	Directive string `json:"directive"`
	// Above the marker.
	// +optional
	// Below the marker.
	Around string `json:"around,omitempty"`

	// Apart from the field.

	// Doc of the field.
	Apart string `json:"apart"`
	/* A block comment.
	   Its second line.
	*/
	Block string `json:"block"`
	// - a list
	// - of things: two
	List string `json:"list"`
	// # a heading
	Heading string `json:"heading"`
	// ends with a space and more spaces
	Trailing string `json:"trailing"`
	// Two  spaces  stay  together,  and  no  line  is  broken  at  them,  even  if  it  is  far  longer  than  80.
	Doubled string `json:"doubled"`
	// Wordthatislongerthaneightycolumnssothatthereisnoplacetofolditanywhereatallinthewholeofthisword and more
	Word80 string `json:"word80"`
	// Is this a question? It is! And an answer… Then Ελληνικά; more。完了
	Terminals string `json:"terminals"`
	// Äöüäöüäöüäöüäöüäöü and so on in two-byte letters without end
	TwoByte   string  `json:"twoByte"`
	None      string  `json:"none"`
	Typed     Typed   `json:"typed"`
	TypedList []Typed `json:"typedList"`
	// Field before type.
	TypedOver Typed `json:"typedOver"`
}

// Typed has a comment of its own.
type Typed string

// Description has a comment too.
type Description struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Worded `json:"spec"`
}
