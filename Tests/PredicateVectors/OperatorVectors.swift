/// Rows in the form of ``PredicateVector/table(_:_:)``: sections 2, 3, 5, 6, 7, 8 and 11 of the grammar.
package let operatorVectors: String = #"""
  # spellings
  a = 1 ⟹ a == 1 ⟦{"a": 1} ✓; {"a": 2} ✗⟧
  a <> 1 ⟹ a != 1 ⟦{"a": 2} ✓; {"a": 1} ✗; {} ✓⟧
  a => 1 ⟹ a >= 1 ⟦{"a": 1} ✓; {"a": 0} ✗⟧
  a =< 1 ⟹ a <= 1 ⟦{"a": 1} ✓; {"a": 2} ✗⟧
  a BeginsWith 'x' ⟹ a BEGINSWITH "x" ⟦{"a": "xy"} ✓; {"a": "yx"} ✗⟧
  a endswith 'x' ⟹ a ENDSWITH "x" ⟦{"a": "yx"} ✓; {"a": "xy"} ✗⟧
  a contains 'x' ⟹ a CONTAINS "x" ⟦{"a": "yxy"} ✓; {"a": "y"} ✗⟧
  a Like 'x' ⟹ a LIKE "x" ⟦{"a": "x"} ✓⟧
  a matches 'x' ⟹ a MATCHES "x" ⟦{"a": "x"} ✓⟧
  a iN {1} ⟹ a IN {1} ⟦{"a": 1} ✓⟧
  a between {1, 2} ⟹ a BETWEEN {1, 2} ⟦{"a": 1.5} ✓⟧
  a uti-conforms-to 'public.data' ⟹ a UTI-CONFORMS-TO "public.data"
  a Uti-Equals 'public.data' ⟹ a UTI-EQUALS "public.data"
  a tokenMatches[cd] 'x' ⟹ a TOKENMATCHES[cd] "x"
  ✘ a === 1
  ✘ a !== 1
  ✘ a == 1 == 1
  ✘ a < b < c
  ✘ a ! = 1
  ✘ a < = 1
  ✘ a NOT IN {1}
  ✘ a NOT LIKE 'x'
  ✘ a IS nil
  ✘ a CONTAIN 'x'
  ✘ a BEGINS WITH 'x'
  ✘ a BETWEEN 1 AND 2
  ✘ a IN (1, 2)
  ✘ a IN [1, 2]
  ✘ == 1
  ✘ a ==
  # equality
  a == b ⟹ a == b ⟦{"a": 1, "b": 1.0} ✓; {"a": true, "b": 1} ✓; {"a": "1", "b": 1} ✗; {"a": [1, 2], "b": [1, 2]} ✓; {"a": [1, 2], "b": [2, 1]} ✗; {"a": {"$set": [1, 2]}, "b": {"$set": [2, 1]}} ✓; {} ✓; {"a": 1} ✗⟧
  a != b ⟹ a != b ⟦{"a": 1, "b": 1.0} ✗; {"a": "1", "b": 1} ✓; {} ✗; {"a": 1} ✓⟧
  a == 'abc' ⟦{"a": "abc"} ✓; {"a": "ABC"} ✗; {"a": "ab"} ✗; {"a": 1} ✗; {"a": []} ✗⟧
  # order
  a < b ⟦{"a": 1, "b": 2} ✓; {"a": 2, "b": 1} ✗; {"a": "ABC", "b": "abc"} ✓; {"a": "b", "b": "aa"} ✗; {"a": {"$date": "2020-01-01T00:00:00Z"}, "b": {"$date": "2021-01-01T00:00:00Z"}} ✓; {"a": 1, "b": "2"} ⚡; {"a": 1, "b": {"$date": "2021-01-01T00:00:00Z"}} ⚡; {"a": [1], "b": [2]} ⚡; {"a": 1} ✗; {} ✗⟧
  a <= b ⟦{"a": 1, "b": 1} ✓; {"a": 1} ✗; {"b": 1} ✗; {} ✓; {"a": "a", "b": "a"} ✓⟧
  a >= b ⟦{"a": 1, "b": 1} ✓; {"a": 1} ✗; {} ✓⟧
  a > b ⟦{"a": 2, "b": 1} ✓; {"b": 1} ✗; {} ✗; {"a": true, "b": false} ✓⟧
  # BETWEEN
  a BETWEEN {1, 10} ⟹ a BETWEEN {1, 10} ⟦{"a": 1} ✓; {"a": 10} ✓; {"a": 0.99} ✗; {"a": 11} ✗; {} ✗; {"a": "5"} ⚡⟧
  a BETWEEN {10, 1} ⟦{"a": 5} ✗⟧
  a BETWEEN {'a', 'm'} ⟦{"a": "b"} ✓; {"a": "z"} ✗; {"a": "m"} ✓; {"a": "ma"} ✗⟧
  a BETWEEN {nil, 10} ⟦{"a": 5} ✗⟧
  a BETWEEN b ⟦{"a": 5, "b": [1, 10]} ✓; {"a": 5, "b": [1]} ⚡; {"a": 5, "b": [1, 2, 3]} ⚡; {"a": 5, "b": 1} ⚡⟧
  a BETWEEN {b - 1, b + 1} ⟹ a BETWEEN {b - 1, b + 1} ⟦{"a": 5, "b": 6} ✓; {"a": 5, "b": 7} ✗⟧
  a BETWEEN {5} ⟦{"a": 5} ⚡⟧
  ANY a BETWEEN {1, 2} ⟦{"a": [0, 1]} ✓; {"a": [0, 3]} ✗⟧
  NOT a BETWEEN {1, 2} ⟹ NOT a BETWEEN {1, 2} ⟦{"a": 3} ✓; {"a": 1} ✗; {} ✓⟧
  # IN and CONTAINS
  a IN {1, 'x', 2.5} ⟹ a IN {1, "x", 2.5} ⟦{"a": 1} ✓; {"a": true} ✓; {"a": "x"} ✓; {"a": 2.5} ✓; {"a": "1"} ✗; {} ✗⟧
  a IN {} ⟹ a IN {} ⟦{"a": 1} ✗; {} ✗⟧
  a IN {nil} ⟦{} ✓; {"a": 1} ✗⟧
  a IN {b, c} ⟹ a IN {b, c} ⟦{"a": 1, "b": 1} ✓; {"a": 1, "c": 1} ✓; {"a": 1} ✗⟧
  a IN b ⟦{"a": 1, "b": {"$set": [1]}} ✓; {"a": "v", "b": {"k": "v"}} ✓; {"a": "k", "b": {"k": "v"}} ✗; {"a": "bc", "b": "abcd"} ✓; {"a": "x", "b": "abcd"} ✗; {"a": "", "b": "abcd"} ✗; {"a": 1, "b": 1} ⚡; {"a": 1} ✗; {"a": 1, "b": "1"} ⚡⟧
  'b' IN a ⟹ "b" IN a ⟦{"a": ["a", "b"]} ✓; {"a": "abc"} ✓⟧
  a CONTAINS b ⟦{"a": [1, 2], "b": 2} ✓; {"a": "abc", "b": "b"} ✓; {"a": "abc", "b": ""} ✗; {"a": {"k": 5}, "b": 5} ✓; {"a": 5, "b": 5} ⚡; {"b": 5} ✗⟧
  a CONTAINS nil ⟦{"a": [null]} ✓; {"a": [1]} ✗; {"a": "x"} ✗⟧
  NOT a IN {1, 2} ⟹ NOT a IN {1, 2} ⟦{"a": 3} ✓; {"a": 1} ✗; {} ✓⟧
  !(a IN {1, 2}) ⟹ NOT a IN {1, 2} ⟦{"a": 3} ✓⟧
  a IN[c] {'X', 'y'} ⟹ a IN[c] {"X", "y"} ⟦{"a": "x"} ✓; {"a": "Y"} ✓; {"a": "z"} ✗⟧
  a IN[c] 'ABC' ⟹ a IN[c] "ABC" ⟦{"a": "b"} ✓⟧
  # text operators
  a BEGINSWITH 'ab' ⟦{"a": "abc"} ✓; {"a": "ab"} ✓; {"a": "Abc"} ✗; {"a": "a"} ✗; {} ✗; {"a": 1} ⚡⟧
  a BEGINSWITH '' ⟦{"a": "abc"} ✗; {"a": ""} ✗⟧
  a ENDSWITH '' ⟦{"a": "abc"} ✗⟧
  a BEGINSWITH nil ⟦{"a": "abc"} ✗; {} ✗⟧
  a LIKE 'a*' ⟦{"a": "a"} ✓; {"a": "abc"} ✓; {"a": "ba"} ✗; {} ✗⟧
  a LIKE '*' ⟦{"a": ""} ✓; {"a": "x"} ✓; {} ✗⟧
  a LIKE '' ⟦{"a": ""} ✓; {"a": "x"} ✗⟧
  a LIKE '?' ⟦{"a": "x"} ✓; {"a": ""} ✗; {"a": "xy"} ✗; {"a": "é"} ✓⟧
  a LIKE '*.txt' ⟦{"a": "a.txt"} ✓; {"a": "atxt"} ✗; {"a": ".txt"} ✓⟧
  a LIKE '[a-z]+' ⟦{"a": "[a-z]+"} ✓; {"a": "abc"} ✗⟧
  a LIKE 'a\\*b' ⟦{"a": "a*b"} ✓; {"a": "axb"} ✗⟧
  a LIKE '%' ⟦{"a": "%"} ✓; {"a": "abc"} ✗⟧
  a LIKE '_' ⟦{"a": "_"} ✓; {"a": "x"} ✗⟧
  a LIKE[c] 'AB?' ⟦{"a": "abc"} ✓; {"a": "ABCD"} ✗⟧
  a LIKE[d] 'e?e' ⟦{"a": "été"} ✓; {"a": "ÉTÉ"} ✗⟧
  a LIKE[cd] 'E*' ⟦{"a": "été"} ✓⟧
  a LIKE 'a' + 'b' ⟹ a LIKE "a" + "b" ⟦{"a": "ab"} ⚡⟧
  a MATCHES 'a.c' ⟦{"a": "abc"} ✓; {"a": "abcd"} ✗; {"a": "xabc"} ✗; {} ✗; {"a": 1} ⚡⟧
  a MATCHES 'a|ab' ⟦{"a": "ab"} ✓; {"a": "a"} ✓; {"a": "abc"} ✗⟧
  a MATCHES '(' ⟦{"a": "("} ⚡⟧
  a MATCHES '\\d{3}-\\d{4}' ⟦{"a": "555-1234"} ✓; {"a": "555-12345"} ✗⟧
  a MATCHES[c] '[a-z]+' ⟹ a MATCHES[c] "[a-z]+" ⟦{"a": "ABC"} ✓; {"a": "a1"} ✗⟧
  a MATCHES[d] 'ete' ⟦{"a": "été"} ✓; {"a": "Été"} ✗⟧
  a MATCHES '(?i)abc' ⟦{"a": "ABC"} ✓⟧
  a MATCHES 'a++b' ⟦{"a": "aab"} ✓⟧
  a MATCHES '(?<=x)y' ⟦{"a": "y"} ✗⟧
  a MATCHES '' ⟦{"a": ""} ⚡; {"a": "x"} ⚡⟧
  a MATCHES 'a\nb' ⟦{"a": "a\nb"} ✓⟧
  # options
  a ==[c] 'abc' ⟹ a ==[c] "abc" ⟦{"a": "ABC"} ✓; {"a": "ábc"} ✗⟧
  a ==[d] 'abc' ⟹ a ==[d] "abc" ⟦{"a": "ábc"} ✓; {"a": "ABC"} ✗⟧
  a ==[cd] 'abc' ⟹ a ==[cd] "abc" ⟦{"a": "ÁBC"} ✓⟧
  a ==[dc] 'abc' ⟹ a ==[cd] "abc" ⟦{"a": "ÁBC"} ✓⟧
  a ==[CD] 'abc' ⟹ a ==[cd] "abc" ⟦{"a": "ÁBC"} ✓⟧
  a = [c] 'abc' ⟹ a ==[c] "abc" ⟦{"a": "ABC"} ✓⟧
  a ==[ cd ] 'abc' ⟹ a ==[cd] "abc"
  a CONTAINS [cd] 'É' ⟹ a CONTAINS[cd] "É" ⟦{"a": "fete"} ✓⟧
  a !=[c] 'abc' ⟹ a !=[c] "abc" ⟦{"a": "ABC"} ✗; {"a": "x"} ✓; {} ✓⟧
  a <[c] 'B' ⟹ a <[c] "B" ⟦{"a": "a"} ✓; {"a": "c"} ✗⟧
  a <=[cd] 'é' ⟹ a <=[cd] "é" ⟦{"a": "E"} ✓; {"a": "f"} ✗⟧
  a >[c] 'b' ⟹ a >[c] "b" ⟦{"a": "C"} ✓⟧
  a >=[n] 'b' ⟹ a >=[n] "b" ⟦{"a": "B"} ✗; {"a": "b"} ✓⟧
  a ==[n] 'abc' ⟹ a ==[n] "abc" ⟦{"a": "abc"} ✓; {"a": "ABC"} ✗⟧
  a ==[cdn] 'abc' ⟹ a ==[cdn] "abc" ⟦{"a": "ABC"} ✗; {"a": "abc"} ✓⟧
  a ==[l] 'abc' ⟹ a ==[l] "abc" ⟦{"a": "abc"} ✓⟧
  a ==[cdl] 'abc' ⟹ a ==[cdl] "abc" ⟦{"a": "ÁBC"} ✓; {"a": "abd"} ✗⟧
  a ==[ldc] 'abc' ⟹ a ==[cdl] "abc"
  a ==[w] 'abc' ⟹ a == "abc" ⟦{"a": "abc"} ✓⟧
  a ==[c] 1 ⟹ a ==[c] 1 ⟦{"a": 1} ✓; {"a": 2} ✗⟧
  a ==[c] nil ⟦{} ✓⟧
  a BEGINSWITH[cd] 'É' ⟦{"a": "eau"} ✓; {"a": "aeu"} ✗⟧
  a ENDSWITH[c] 'X' ⟦{"a": "yx"} ✓⟧
  a ==[d] 'ü' ⟦{"a": "û"} ✓; {"a": "u"} ✓; {"a": "U"} ✗⟧
  ✘ a ==[x] 'abc'
  ✘ a ==[] 'abc'
  ✘ a ==[c 'abc'
  ✘ a == c] 'abc'
  ✘ a ==[1] 'abc'
  # quantifiers
  ANY a > 2 ⟹ ANY a > 2 ⟦{"a": [1, 3]} ✓; {"a": [1, 2]} ✗; {"a": []} ✗; {} ✗; {"a": 3} ⚡⟧
  SOME a > 2 ⟹ ANY a > 2 ⟦{"a": [1, 3]} ✓⟧
  ALL a > 2 ⟹ ALL a > 2 ⟦{"a": [3, 4]} ✓; {"a": [1, 3]} ✗; {"a": []} ✓; {"a": "x"} ⚡⟧
  NONE a > 2 ⟹ NOT ANY a > 2 ⟦{"a": [1, 2]} ✓; {"a": [3]} ✗; {"a": []} ✓⟧
  any a > 2 ⟹ ANY a > 2
  aLL a > 2 ⟹ ALL a > 2
  NOT ALL a > 2 ⟹ NOT ALL a > 2 ⟦{"a": [1]} ✓⟧
  ANY a.b == 1 ⟹ ANY a.b == 1 ⟦{"a": [{"b": 1}, {"b": 2}]} ✓; {"a": [{"b": 2}]} ✗; {"a": [{}]} ✗; {"a": {"$set": [{"b": 1}]}} ✓⟧
  ANY a.b == nil ⟦{"a": [{"b": 1}, {}]} ✓⟧
  ANY a IN {'x', 'y'} ⟹ ANY a IN {"x", "y"} ⟦{"a": ["z", "y"]} ✓; {"a": ["z"]} ✗⟧
  ALL a IN b ⟦{"a": [1, 2], "b": [1, 2, 3]} ✓; {"a": [1, 4], "b": [1, 2, 3]} ✗⟧
  ANY a LIKE[c] 'X*' ⟹ ANY a LIKE[c] "X*" ⟦{"a": ["xy"]} ✓⟧
  ANY SELF == 1 ⟹ ANY SELF == 1 ⟦[1, 2] ✓; [2] ✗⟧
  ANY {1, 2, 3} == SELF ⟹ ANY {1, 2, 3} == SELF ⟦2 ✓; 4 ✗⟧
  ANY $xs > 1 ⟹ ANY $xs > 1
  ANY a == b ⟦{"a": [1, 2], "b": 2} ✓⟧
  ANY a > 1 AND ALL a < 9 ⟹ ANY a > 1 AND ALL a < 9 ⟦{"a": [1, 2]} ✓⟧
  ✘ ANY a
  ✘ ANY
  ✘ ANY (a == 1 AND b == 2)
  ✘ ANY NOT a == 1
  ✘ ALL TRUEPREDICATE
  # compounds
  a == 1 AND b == 2 AND c == 3 ⟹ a == 1 AND b == 2 AND c == 3 ⟦{"a": 1, "b": 2, "c": 3} ✓; {"a": 1, "b": 2} ✗⟧
  a == 1 OR b == 2 OR c == 3 ⟹ a == 1 OR b == 2 OR c == 3 ⟦{"c": 3} ✓; {} ✗⟧
  a == 1 && b == 2 ⟹ a == 1 AND b == 2
  a == 1 || b == 2 ⟹ a == 1 OR b == 2
  a == 1 and b == 2 Or c == 3 ⟹ (a == 1 AND b == 2) OR c == 3
  a == 1 OR b == 2 AND c == 3 ⟹ a == 1 OR (b == 2 AND c == 3) ⟦{"a": 1} ✓; {"b": 2} ✗; {"b": 2, "c": 3} ✓⟧
  (a == 1 OR b == 2) AND c == 3 ⟹ (a == 1 OR b == 2) AND c == 3 ⟦{"a": 1} ✗; {"a": 1, "c": 3} ✓⟧
  (a == 1 AND b == 2) AND c == 3 ⟹ (a == 1 AND b == 2) AND c == 3
  a == 1 OR (b == 2 OR c == 3) ⟹ a == 1 OR (b == 2 OR c == 3)
  ((a == 1)) ⟹ a == 1
  (((a))) == ((1)) ⟹ a == 1
  ((a == 1) OR ((b == 2))) ⟹ a == 1 OR b == 2
  NOT a == 1 ⟹ NOT a == 1 ⟦{"a": 2} ✓; {"a": 1} ✗; {} ✓⟧
  !a == 1 ⟹ NOT a == 1
  ! a == 1 ⟹ NOT a == 1
  not(a == 1) ⟹ NOT a == 1
  NOT (a == 1 AND b == 2) ⟹ NOT (a == 1 AND b == 2) ⟦{"a": 1} ✓; {"a": 1, "b": 2} ✗⟧
  NOT (a == 1 OR b == 2) ⟹ NOT (a == 1 OR b == 2) ⟦{} ✓; {"b": 2} ✗⟧
  NOT a == 1 AND b == 2 ⟦{"b": 2} ✓; {"a": 1, "b": 2} ✗; {} ✗⟧
  NOT a == 1 OR b == 2 ⟦{"a": 1, "b": 2} ✓; {"a": 1} ✗⟧
  NOT NOT a == 1 ⟦{"a": 1} ✓; {} ✗⟧
  !!(a == 1) ⟦{"a": 1} ✓⟧
  a == 1 AND NOT (b == 2 OR c == 3) ⟦{"a": 1} ✓; {"a": 1, "c": 3} ✗⟧
  TRUEPREDICATE ⟹ TRUEPREDICATE ⟦null ✓; 1 ✓⟧
  falsepredicate ⟹ FALSEPREDICATE ⟦null ✗⟧
  TRUEPREDICATE AND a == 1 ⟹ TRUEPREDICATE AND a == 1 ⟦{"a": 1} ✓; {} ✗⟧
  FALSEPREDICATE OR NOT FALSEPREDICATE ⟦null ✓⟧
  NOT TRUEPREDICATE ⟹ NOT TRUEPREDICATE ⟦null ✗⟧
  a == 1 AND (TRUEPREDICATE) ⟹ a == 1 AND TRUEPREDICATE
  a == 0 OR 1 / a == 1 ⟦{"a": 0} ✓; {"a": 1} ✓⟧
  a != 0 AND 1 / a == 1 ⟦{"a": 0} ✗; {"a": 1} ✓⟧
  ✘ a AND b
  ✘ a == 1 AND
  ✘ AND a == 1
  ✘ a == 1 AND AND b == 2
  ✘ a == 1 OR AND b == 2
  ✘ a == 1 XOR b == 2
  ✘ (a == 1
  ✘ a == 1)
  ✘ ()
  ✘ NOT
  ✘ NOT a
  ✘ !
  ✘ a
  ✘ 1
  ✘ 'x'
  ✘ TRUE
  ✘ nil
  ✘ SELF
  ✘ {1, 2}
  ✘ a == (b == 1)
  ✘ (a == 1) == 1
  ✘ TRUEPREDICATE == 1
  # precedence and arithmetic
  a + 1 == 2 ⟹ a + 1 == 2 ⟦{"a": 1} ✓; {"a": 1.0} ✓; {"a": true} ✓; {} ✗; {"a": "1"} ⚡⟧
  a - b - c == 0 ⟹ (a - b) - c == 0 ⟦{"a": 6, "b": 4, "c": 2} ✓⟧
  a - (b - c) == 4 ⟹ a - (b - c) == 4 ⟦{"a": 6, "b": 4, "c": 2} ✓⟧
  a / b / c == 1 ⟹ (a / b) / c == 1 ⟦{"a": 8, "b": 4, "c": 2} ✓⟧
  a + b * c == 14 ⟹ a + (b * c) == 14 ⟦{"a": 2, "b": 3, "c": 4} ✓⟧
  (a + b) * c == 20 ⟹ (a + b) * c == 20 ⟦{"a": 2, "b": 3, "c": 4} ✓⟧
  a * b + c == 10 ⟹ (a * b) + c == 10 ⟦{"a": 2, "b": 3, "c": 4} ✓⟧
  a * b ** c == 18 ⟹ a * (b ** c) == 18 ⟦{"a": 2, "b": 3, "c": 2} ✓⟧
  a ** 2 + 1 == 10 ⟹ (a ** 2) + 1 == 10 ⟦{"a": 3} ✓⟧
  7 / 2 == 3 ⟹ 7 / 2 == 3 ⟦null ✓⟧
  -7 / 2 == -3 ⟹ -7 / 2 == -3 ⟦null ✓⟧
  7.0 / 2 == 3.5 ⟦null ✓⟧
  7 / 2.0 == 3.5 ⟦null ✓⟧
  1 / 0 == 1 ⟦null ✗⟧
  1 * -1 == -1 ⟹ 1 * -1 == -1 ⟦null ✓⟧
  2 - -1 == 3 ⟹ 2 - -1 == 3 ⟦null ✓⟧
  -a == 5 ⟹ -a == 5 ⟦{"a": -5} ✓; {} ✗; {"a": "x"} ⚡⟧
  -a.b == -5 ⟹ -a.b == -5 ⟦{"a": {"b": 5}} ✓⟧
  -(a + b) == -3 ⟹ -(a + b) == -3 ⟦{"a": 1, "b": 2} ✓⟧
  1 + -a == 0 ⟦{"a": 1} ✓⟧
  a & b == 8 ⟹ a & b == 8 ⟦{"a": 12, "b": 10} ✓; {"a": "x", "b": 1} ⚡⟧
  a | b == 14 ⟹ a | b == 14 ⟦{"a": 12, "b": 10} ✓⟧
  a ^ b == 6 ⟹ a ^ b == 6 ⟦{"a": 12, "b": 10} ✓⟧
  a << 2 == 12 ⟹ a << 2 == 12 ⟦{"a": 3} ✓⟧
  a >> 1 == 2 ⟹ a >> 1 == 2 ⟦{"a": 5} ✓⟧
  a & 4 != 0 ⟹ a & 4 != 0 ⟦{"a": 6} ✓; {"a": 3} ✗⟧
  1 + 1 == 3 - 1 ⟹ 1 + 1 == 3 - 1 ⟦null ✓⟧
  '1' + '1' == 2 ⟹ "1" + "1" == 2 ⟦null ⚡⟧
  nil + 1 == 1 ⟹ nil + 1 == 1 ⟦null ✗⟧
  9223372036854775807 + 1 > 9223372036854775807 ⟦null ✓⟧
  add:to:(1, 2) == 3 ⟹ 1 + 2 == 3 ⟦null ✓⟧
  ✘ a +
  ✘ * a == 1
  ✘ a + == 1
  ✘ a ** == 1
  ✘ a ++ b == 1
  ✘ -
  ✘ a == 1 +
  """#
