/// Rows in the form of ``PredicateVector/table(_:_:)``: section 1 and 9 of the grammar.
package let literalVectors: String = #"""
  # numbers
  SELF == 0 ⟹ SELF == 0 ⟦0 ✓; -0.0 ✓; false ✓; 1 ✗; null ✗; "0" ✗⟧
  SELF == 42 ⟹ SELF == 42 ⟦42 ✓; 42.0 ✓; 42.5 ✗⟧
  SELF == 007 ⟹ SELF == 7 ⟦7 ✓⟧
  SELF == 0xff ⟹ SELF == 255 ⟦255 ✓⟧
  SELF == 0XFF ⟹ SELF == 255 ⟦255 ✓⟧
  SELF == 0xDeadBeef ⟹ SELF == 3735928559 ⟦3735928559 ✓⟧
  SELF == 0o777 ⟹ SELF == 511 ⟦511 ✓⟧
  SELF == 0O7 ⟹ SELF == 7 ⟦7 ✓⟧
  SELF == 0b11111111 ⟹ SELF == 255 ⟦255 ✓⟧
  SELF == 0B1 ⟹ SELF == 1 ⟦1 ✓; true ✓⟧
  SELF == 9223372036854775807 ⟹ SELF == 9223372036854775807 ⟦9223372036854775807 ✓; 9223372036854775806 ✗⟧
  SELF == -9223372036854775808 ⟹ SELF == -9223372036854775808 ⟦-9223372036854775808 ✓; -1 ✗⟧
  SELF == 18446744073709551615 ⟹ SELF == 18446744073709551615 ⟦18446744073709551615 ✓; -1 ✗⟧
  SELF > 18446744073709551615 ⟹ SELF > 18446744073709551615 ⟦1e30 ✓; 9223372036854775807 ✗⟧
  SELF == 1.0 ⟹ SELF == 1 ⟦1 ✓; true ✓; 1.5 ✗⟧
  SELF == 1.50 ⟹ SELF == 1.5 ⟦1.5 ✓⟧
  SELF == 0.1 ⟹ SELF == 0.1 ⟦0.1 ✓⟧
  SELF == 1E3 ⟹ SELF == 1000 ⟦1000 ✓⟧
  SELF == 1.5e+2 ⟹ SELF == 150 ⟦150 ✓⟧
  SELF == 25e-1 ⟹ SELF == 2.5 ⟦2.5 ✓⟧
  SELF == 1e15 ⟹ SELF == 1000000000000000 ⟦1000000000000000 ✓⟧
  SELF == -1 ⟹ SELF == -1 ⟦-1 ✓⟧
  SELF == - 1 ⟹ SELF == -1 ⟦-1 ✓⟧
  SELF == -1.5e2 ⟹ SELF == -150 ⟦-150 ✓⟧
  SELF == -0x10 ⟹ SELF == -16 ⟦-16 ✓⟧
  SELF == 123456789012345678901234567890 ⟦1.2345678901234568e29 ✓; 1 ✗⟧
  ✘ SELF == 1..0
  ✘ SELF == 1.
  ✘ SELF == .5
  ✘ SELF == 1_000
  ✘ SELF == 10L
  ✘ SELF == 1.5f
  ✘ SELF == 0x
  ✘ SELF == 0xG
  ✘ SELF == 0b2
  ✘ SELF == 0o8
  ✘ SELF == 1e
  ✘ SELF == +1
  ✘ SELF == 1 2
  ✘ SELF == 1a
  ✘ a == 5475f323e4b09e6d
  # booleans and nil
  a == TRUE ⟹ a == 1 ⟦{"a": true} ✓; {"a": 1} ✓; {"a": 0} ✗; {"a": 2} ✗; {} ✗⟧
  a == tRuE ⟹ a == 1 ⟦{"a": true} ✓⟧
  a == YES ⟹ a == 1 ⟦{"a": true} ✓⟧
  a == Yes ⟹ a == 1 ⟦{"a": 1.0} ✓⟧
  a == FALSE ⟹ a == 0 ⟦{"a": false} ✓; {} ✗; {"a": null} ✗⟧
  a == no ⟹ a == 0 ⟦{"a": 0} ✓⟧
  TRUE == 1 ⟹ 1 == 1 ⟦null ✓⟧
  YES != NO ⟹ 1 != 0 ⟦null ✓⟧
  YES > NO ⟹ 1 > 0 ⟦null ✓⟧
  a == -YES ⟹ a == -(1) ⟦{"a": -1} ✓⟧
  a == nil ⟹ a == nil ⟦{} ✓; {"a": null} ✓; {"a": 0} ✗; {"a": ""} ✗; {"a": []} ✗⟧
  a == NIL ⟹ a == nil ⟦{} ✓⟧
  a == Null ⟹ a == nil ⟦{} ✓⟧
  nil == NULL ⟹ nil == nil ⟦null ✓⟧
  nil != nil ⟹ nil != nil ⟦null ✗⟧
  # strings
  SELF == "" ⟹ SELF == "" ⟦"" ✓; " " ✗; null ✗⟧
  SELF == '"' ⟹ SELF == "\"" ⟦"\"" ✓⟧
  SELF == "'" ⟹ SELF == "'" ⟦"'" ✓⟧
  SELF == 'a\"b' ⟹ SELF == "a\"b" ⟦"a\"b" ✓⟧
  SELF == "a\'b" ⟹ SELF == "a'b" ⟦"a'b" ✓⟧
  SELF == 'a\\\\b' ⟹ SELF == "a\\\\b" ⟦"a\\\\b" ✓; "a\\b" ✗⟧
  SELF == 'a\nb' ⟦"a\nb" ✓; "anb" ✗⟧
  SELF == 'a\rb' ⟦"a\rb" ✓⟧
  SELF == 'a\tb' ⟦"a\tb" ✓⟧
  SELF == 'a\bb' ⟦"a\bb" ✓; "abb" ✗⟧
  SELF == 'a\fb' ⟦"a\fb" ✓⟧
  SELF == 'a\ab' ⟦"a\u0007b" ✓⟧
  SELF == 'a\vb' ⟦"a\u000bb" ✓⟧
  SELF == 'a\eb' ⟦"a\u001bb" ✓⟧
  SELF == '\101\102' ⟹ SELF == "AB" ⟦"AB" ✓⟧
  SELF == '\60' ⟹ SELF == "0" ⟦"0" ✓⟧
  SELF == '\x4a\x4B' ⟹ SELF == "JK" ⟦"JK" ✓⟧
  SELF == '\u0041\u00E9' ⟹ SELF == "Aé" ⟦"A\u00e9" ✓; "Ae\u0301" ✗⟧
  SELF == '\ud83d\ude00' ⟹ SELF == "😀" ⟦"😀" ✓⟧
  SELF == '\q\z' ⟹ SELF == "qz" ⟦"qz" ✓⟧
  SELF == '\?' ⟹ SELF == "\\?" ⟦"\\?" ✓; "?" ✗⟧
  SELF == '\*' ⟹ SELF == "\\*" ⟦"\\*" ✓; "*" ✗⟧
  SELF LIKE '\*' ⟦"*" ✓; "a" ✗⟧
  SELF == 'größe 日本 😀' ⟹ SELF == "größe 日本 😀" ⟦"größe 日本 😀" ✓⟧
  SELF == '%@ %K %d $x' ⟹ SELF == "%@ %K %d $x" ⟦"%@ %K %d $x" ✓⟧
  SELF == 'AND OR NOT' ⟹ SELF == "AND OR NOT" ⟦"AND OR NOT" ✓⟧
  SELF == '/* no comment */' ⟹ SELF == "/* no comment */" ⟦"/* no comment */" ✓⟧
  SELF == '100%%' ⟹ SELF == "100%%" ⟦"100%%" ✓⟧
  ✘ SELF == 'abc
  ✘ SELF == "abc'
  ✘ SELF == 'abc\'
  ✘ SELF == 'a' 'b'
  ✘ SELF == '\u12'
  ✘ SELF == '\xZZ'
  ✘ SELF == '\ud83d'
  ✘ SELF == 'it's'
  ✘ SELF == “abc”
  ✘ SELF == @"abc"
  # white space and comments
  a==1 ⟹ a == 1 ⟦{"a": 1} ✓⟧
  a  ==  1  ⟹ a == 1 ⟦{"a": 1} ✓⟧
  (a==1)AND(b==2) ⟹ a == 1 AND b == 2 ⟦{"a": 1, "b": 2} ✓⟧
  a==1&&b==2||c==3 ⟹ (a == 1 AND b == 2) OR c == 3 ⟦{"c": 3} ✓⟧
  sum ({1,2}) == 3 ⟹ sum:({1, 2}) == 3 ⟦null ✓⟧
  ✘ a == 1 -- b
  ✘ a == 1 // b
  ✘ a == 1 /* b */
  ✘ a == 1 # b
  ✘ a ~ 1
  ✘ a ? 1
  ✘ a % 2 == 0
  ✘ a == 1;
  ✘ a == 1 \ b
  # identifiers
  _a1 == 1 ⟹ _a1 == 1 ⟦{"_a1": 1} ✓⟧
  A == 1 ⟹ A == 1 ⟦{"A": 1} ✓; {"a": 1} ✗⟧
  order == 1 ⟹ order == 1 ⟦{"order": 1} ✓⟧
  notes == 1 ⟹ notes == 1 ⟦{"notes": 1} ✓⟧
  inbox == 1 ⟹ inbox == 1 ⟦{"inbox": 1} ✓⟧
  android == 1 AND orbit == 2 AND selfish == 3 ⟹ android == 1 AND orbit == 2 AND selfish == 3 ⟦{"android": 1, "orbit": 2, "selfish": 3} ✓⟧
  anyone == 1 OR allow == 1 OR nonempty == 1 ⟹ anyone == 1 OR allow == 1 OR nonempty == 1 ⟦{"allow": 1} ✓⟧
  truePredicateKey == 1 ⟹ truePredicateKey == 1 ⟦{"truePredicateKey": 1} ✓⟧
  größe == 1 ⟹ größe == 1 ⟦{"größe": 1} ✓⟧
  #in == 1 ⟹ #in == 1 ⟦{"in": 1} ✓⟧
  #NOT == 1 ⟹ #NOT == 1 ⟦{"NOT": 1} ✓; {"not": 1} ✗⟧
  #plain == 1 ⟹ plain == 1 ⟦{"plain": 1} ✓⟧
  a.#all.#any == 1 ⟹ a.#all.#any == 1 ⟦{"a": {"all": {"any": 1}}} ✓⟧
  #self == 1 ⟹ #self == 1 ⟦{"self": 1} ✓⟧
  size == 1 AND a.first == 2 AND last.b == 3 ⟦{"size": 1, "a": {"first": 2}, "last": {"b": 3}} ✓⟧
  ✘ in == 1
  ✘ and == 1
  ✘ a.or == 1
  ✘ like LIKE 'x'
  ✘ a.between == 1
  ✘ a.nil == 1
  null.a == 1 ⟹ nil.a == 1 ⟦null ✗⟧
  true.a == 1 ⟹ (1).a == 1 ⟦null ⚡⟧
  ✘ union == 1
  ✘ a.minus == 1
  ✘ cast == 1
  ✘ subquery == 1
  ✘ a.#1 == 1
  ✘ # == 1
  ✘ a-b-c
  ✘ a.5 == 1
  ✘ a..b == 1
  ✘ .a == 1
  ✘ a. == 1
  """#
