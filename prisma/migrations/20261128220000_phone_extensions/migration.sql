-- As before, without an extension behind at least 7 digits, such as "ext. 12", "x12", "#12" and "доб. 12": the number of a lead
-- without a country is found by its digits alone. Until the next migration builds the index again, it has older leads
-- with their extensions. Statements of the release before find the same leads. A complete number has digits only, so it
-- needs no regular expression.
CREATE OR REPLACE FUNCTION "phone_end"("phone_e164" text, "phone" text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN left(reverse(CASE WHEN "phone_e164" IS NOT NULL THEN substr("phone_e164", 2) ELSE regexp_replace(regexp_replace(CASE
        WHEN octet_length("phone") = length("phone") THEN right("phone", 255)
        ELSE translate(
            right("phone", 255),
            E'\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669'
                '\u06F0\u06F1\u06F2\u06F3\u06F4\u06F5\u06F6\u06F7\u06F8\u06F9'
                '\u0966\u0967\u0968\u0969\u096A\u096B\u096C\u096D\u096E\u096F'
                '\u09E6\u09E7\u09E8\u09E9\u09EA\u09EB\u09EC\u09ED\u09EE\u09EF'
                '\uFF10\uFF11\uFF12\uFF13\uFF14\uFF15\uFF16\uFF17\uFF18\uFF19',
            '01234567890123456789012345678901234567890123456789'
        )
    END, '(([0-9][^0-9]*){7})([Xx#]|[Дд][Оо][Бб])[^0-9]{0,9}[0-9]{1,7}[^0-9]*$', '\1'), '[^0-9]', '', 'g') END), 32);
