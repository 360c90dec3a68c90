// +groupName=parity.example.com
// +versionName=v1
package values

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type Pair struct {
	// +kubebuilder:default=a
	A string `json:"a,omitempty"`
	// +kubebuilder:default=1
	B int32 `json:"b,omitempty"`
}

type ValuesSpec struct {
	// +kubebuilder:default=plain
	Plain string `json:"plain,omitempty"`
	// +kubebuilder:default="quoted: \"text\"\twith a tab"
	Quoted string `json:"quoted,omitempty"`
	// +kubebuilder:default=`raw \d text`
	Raw string `json:"raw,omitempty"`
	// +kubebuilder:default='single'
	Single string `json:"single,omitempty"`
	// +kubebuilder:default=""
	Empty string `json:"empty,omitempty"`
	// +kubebuilder:default=bare with spaces
	Bare string `json:"bare,omitempty"`
	// +kubebuilder:default="true"
	True string `json:"true,omitempty"`
	// +kubebuilder:default="null"
	Null string `json:"null,omitempty"`
	// +kubebuilder:default="~"
	Tilde string `json:"tilde,omitempty"`
	// +kubebuilder:default="0x1F"
	Hex string `json:"hex,omitempty"`
	// +kubebuilder:default="1_000"
	Underscore string `json:"underscore,omitempty"`
	// +kubebuilder:default="1:30"
	Sexagesimal string `json:"sexagesimal,omitempty"`
	// +kubebuilder:default="2024-01-15"
	Date string `json:"date,omitempty"`
	// +kubebuilder:default="<<"
	Merge string `json:"merge,omitempty"`
	// +kubebuilder:default="="
	Equals string `json:"equals,omitempty"`
	// +kubebuilder:default=".inf"
	Infinite string `json:"infinite,omitempty"`
	// +kubebuilder:default="1e400"
	Overflow string `json:"overflow,omitempty"`
	// +kubebuilder:default="1e-999"
	Underflow string `json:"underflow,omitempty"`
	// +kubebuilder:default="99999999999999999999"
	Digits string `json:"digits,omitempty"`
	// +kubebuilder:default="- dash"
	Dash string `json:"dash,omitempty"`
	// +kubebuilder:default="? mark"
	Mark string `json:"mark,omitempty"`
	// +kubebuilder:default="a: b"
	Colon string `json:"colon,omitempty"`
	// +kubebuilder:default="a #b"
	Hash string `json:"hash,omitempty"`
	// +kubebuilder:default=" lead"
	Lead string `json:"lead,omitempty"`
	// +kubebuilder:default="trail "
	Trail string `json:"trail,omitempty"`
	// +kubebuilder:default="two\nlines"
	Lines string `json:"lines,omitempty"`
	// +kubebuilder:default="two\nlines\n"
	LinesEnd string `json:"linesEnd,omitempty"`
	// +kubebuilder:default="two\nlines\n\n"
	LinesEnds string `json:"linesEnds,omitempty"`
	// +kubebuilder:default="\n"
	Newline string `json:"newline,omitempty"`
	// +kubebuilder:default=" two\nlines"
	LinesLead string `json:"linesLead,omitempty"`
	// +kubebuilder:default="two \nlines"
	LinesTrail string `json:"linesTrail,omitempty"`
	// +kubebuilder:default="bell\a and \u00a0 and \u2028"
	Control string `json:"control,omitempty"`
	// +kubebuilder:default=100Mi
	Size string `json:"size,omitempty"`
	// +kubebuilder:default=087bdd
	Commit string `json:"commit,omitempty"`
	// +kubebuilder:default=sha256:08a7b
	Digest string `json:"digest,omitempty"`
	// +kubebuilder:default=5m
	Minutes string `json:"minutes,omitempty"`
	// +kubebuilder:default=1
	One int32 `json:"one,omitempty"`
	// +kubebuilder:default=-5
	Negative int64 `json:"negative,omitempty"`
	// +kubebuilder:default=010
	Octal int64 `json:"octal,omitempty"`
	// +kubebuilder:default=0.5
	Half float64 `json:"half,omitempty"`
	// +kubebuilder:default=1e-7
	Tiny float64 `json:"tiny,omitempty"`
	// +kubebuilder:default=1.0
	Whole float64 `json:"whole,omitempty"`
	// +kubebuilder:default=true
	Flag bool `json:"flag,omitempty"`
	// +kubebuilder:default={a,b}
	List []string `json:"list,omitempty"`
	// +kubebuilder:default=a;b;c
	Legacy []string `json:"legacy,omitempty"`
	// +kubebuilder:default={1,2}
	Numbers []int32 `json:"numbers,omitempty"`
	// +kubebuilder:default={}
	EmptyList []string `json:"emptyList,omitempty"`
	// +kubebuilder:default={}
	EmptyMap map[string]string `json:"emptyMap,omitempty"`
	// +kubebuilder:default={}
	EmptyStruct Pair `json:"emptyStruct,omitempty"`
	// +kubebuilder:default={a: "x", b: 2}
	Struct Pair `json:"struct,omitempty"`
	// +kubebuilder:default={{a: "x"}, {a: "y", b: 3}}
	Structs []Pair `json:"structs,omitempty"`
	// +kubebuilder:default={"key one": "v", k2: "w"}
	Map map[string]string `json:"map,omitempty"`
	// +kubebuilder:default={a10: "1", a9: "2", B: "3", _c: "4", a-b: "5"}
	Order map[string]string `json:"order,omitempty"`
	// +default="json"
	JSON string `json:"json,omitempty"`
	// +default={"a":"x","b":[1,2.50,null,true,{"c":"d"}]}
	Free apiextensionsv1.JSON `json:"free,omitempty"`
	// +default=null
	Nothing *string `json:"nothing,omitempty"`
	// +default=1.50
	Decimal float64 `json:"decimal,omitempty"`
	// +default=ref(Somewhere)
	Reference string `json:"reference,omitempty"`
	// +kubebuilder:default=ours
	// +default="theirs"
	Both string `json:"both,omitempty"`
	// +kubebuilder:example=12
	// +kubebuilder:title=A title
	Example string `json:"example,omitempty"`
	// +kubebuilder:example={a: {1,2}, b: "c"}
	ExampleStruct apiextensionsv1.JSON `json:"exampleStruct,omitempty"`
	// +kubebuilder:validation:Enum=a;"b c";`d`;e f;-1;1.0;true;0x1p
	Enum apiextensionsv1.JSON `json:"enum,omitempty"`
}

type Value struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:default={}
	Spec ValuesSpec `json:"spec,omitempty"`
}
